package thetajoin.kit

import org.apache.spark.sql.types.{DataType, StructField, StructType}

/**
 * The types of keys in an index, which goes over the wire. They are kept as text: Spark's classes for types are many, and a Kryo that
 * requires registration knows a few of them.
 */
private[thetajoin] final class KeyTypes private (json: String) extends Serializable {
  @transient lazy val all: Seq[DataType] =
    DataType.fromJson(json).asInstanceOf[StructType].fields.toSeq.map(_.dataType)
}

private[thetajoin] object KeyTypes {
  def apply(types: Seq[DataType]): KeyTypes =
    new KeyTypes(StructType(types.map(StructField("key", _))).json)
}
