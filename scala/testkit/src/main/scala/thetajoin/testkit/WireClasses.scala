package thetajoin.testkit

import org.apache.spark.serializer.KryoRegistrator

import com.esotericsoftware.kryo.Kryo

/** Registers what accelerators under test name as their classes, and what Spark itself sends of tables in memory. */
final class WireClasses extends KryoRegistrator {
  override def registerClasses(kryo: Kryo): Unit =
    (WireClasses.ofSpark ++ WireClasses.underTest).foreach(kryo.register(_))
}

private[testkit] object WireClasses {

  /** Of the suite for which a session is made. */
  @volatile var underTest: Seq[Class[_]] = Nil

  private val ofSpark: Seq[Class[_]] = Seq(
    "scala.collection.immutable.ArraySeq$ofRef",
    "scala.collection.mutable.ArraySeq$ofRef",
    "org.apache.spark.sql.catalyst.expressions.UnsafeRow",
    "[Lorg.apache.spark.sql.catalyst.expressions.UnsafeRow;",
    "[Lorg.apache.spark.sql.catalyst.InternalRow;"
  ).map(Class.forName(_))
}
