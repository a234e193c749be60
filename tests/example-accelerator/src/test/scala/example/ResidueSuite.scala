package example

import thetajoin.contract.Accelerator
import thetajoin.testkit.AcceleratorSuite

class ResidueSuite extends AcceleratorSuite {
  override def accelerator: Accelerator = new ResidueAccelerator
  override def conditions: Seq[String] = Seq("(a.x + b.y) % 64 = 0", "(a.x + b.y) % 2 = 0")
  override def left: String = "x BIGINT"
  override def right: String = "y BIGINT"

  // A sum that overflows wraps around.
  override def settings: Map[String, String] = Map("spark.sql.ansi.enabled" -> "false")
}
