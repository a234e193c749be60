package thetajoin.kit

import org.apache.spark.sql.types.{DataType, StructField, StructType}

/**
 * The types of keys, for an index that has to know them when it is probed. It goes over the wire as text: Spark has
 * many classes for types, and a Kryo that requires registration knows a few of them.
 */
final case class KeyTypes private (json: String) {
  @transient lazy val all: Seq[DataType] =
    DataType.fromJson(json).asInstanceOf[StructType].fields.toSeq.map(_.dataType)
}

object KeyTypes {
  def apply(types: Seq[DataType]): KeyTypes =
    new KeyTypes(StructType(types.map(StructField("key", _))).json)
}
