package thetajoin.condition

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class LocalTimeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val minute = 60L * 1000000

  /** Before the first change of a zone's clocks, a day that a country left out, half an hour, and ordinary changes. */
  private val zones = Gen.oneOf(
    ("America/New_York", "2024-11-03T06:00:00Z"),
    ("America/New_York", "1883-11-18T17:00:00Z"),
    ("Europe/Berlin", "2024-03-31T01:00:00Z"),
    ("Australia/Lord_Howe", "2024-04-06T15:00:00Z"),
    ("America/Juneau", "1867-10-19T15:33:32Z"),
    ("Pacific/Apia", "2011-12-30T10:00:00Z")
  )

  test("limits are those of a loop over the minutes around") {
    forAll(zones, Gen.choose(-300, 300)) { case ((zone, change), away) =>
      val time = LocalTime.of(zone).get
      val instant = java.time.Instant.parse(change).getEpochSecond * 1000000 + away * minute
      val around = -3000 to 3000
      val before = around.filter(_ <= 0).map(i => time.of(instant + i * minute)).max
      val after = around.filter(_ >= 0).map(i => time.of(instant + i * minute)).min
      val (latest, earliest) = (time.latest(instant), time.earliest(instant))
      assert(latest >= before && latest <= before + minute)
      assert(earliest <= after && earliest >= after - minute)
      val local = time.of(instant)
      assert(time.doubt(instant) == math.max(latest - local, local - earliest))
    }
  }

  test("a zone whose clocks never change has none") {
    assert(Seq("UTC", "+02:00", "Etc/GMT-3").flatMap(LocalTime.of).isEmpty)
  }
}
