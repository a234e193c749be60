package thetajoin.driver.unmatched

import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.SparkEnv

/**
 * Objects of any class as bytes, written as Spark writes its tasks: whatever `spark.serializer` is, and knows of
 * their class.
 */
private[driver] object JavaBytes {
  def of[A: ClassTag](value: A): Array[Byte] = {
    val written = SparkEnv.get.closureSerializer.newInstance().serialize(value)
    val bytes = new Array[Byte](written.remaining)
    written.get(bytes)
    bytes
  }

  def read[A: ClassTag](bytes: Array[Byte]): A =
    SparkEnv.get.closureSerializer.newInstance()
      .deserialize[A](ByteBuffer.wrap(bytes), Thread.currentThread.getContextClassLoader)
}
