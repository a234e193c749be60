package thetajoin

import scala.collection.concurrent.TrieMap

/**
 * Numbers that were tuned by measurement, and limits of memory. They are no settings: a user has no reason to know
 * them. A test sets them, so that few rows suffice where many are usual. Times are nanoseconds of one core. Decision
 * 13 has the measurements of batches and of indexes of keys, decision 14 the costs, decision 12 and decision 19 the
 * sizes.
 */
object Yardsticks {
  private val byName = TrieMap.empty[String, Yardstick[_]]

  final class Yardstick[A] private[Yardsticks] (name: String, usual: A) {
    @volatile private var value: A = usual
    byName += name -> this

    def apply(): A = value
    private[Yardsticks] def reset(): Unit = value = usual
    private[Yardsticks] def set(number: Long): Unit = {
      val boxed: Any = usual match {
        case _: Double => Double.box(number.toDouble)
        case _: Int => Int.box(number.toInt)
        case _ => Long.box(number)
      }
      value = boxed.asInstanceOf[A]
    }
  }

  // ---- Batches of probe rows --------------------------------------------------------------------

  /**
   * From so many bytes of an ordered index on, probe rows are sorted in batches ahead of the look-ups. A smaller
   * index stays in a core's cache.
   */
  val SortedIndexBytes = new Yardstick("sortedIndexBytes", 4L << 20)

  /** The bytes of an ordered index for each build row, about. */
  val IndexBytesPerRow = new Yardstick("indexBytesPerRow", 20L)

  /**
   * How many times more rows a file may have than its size says. The size of the index is known before rows are
   * sorted.
   */
  val Compression = new Yardstick("compression", 8)

  /** Bytes of a probe row that is sorted sooner than unsorted rows are looked up, if rows leave the stage. */
  val NarrowRowBytes = new Yardstick("narrowRowBytes", 64)

  // ---- Probe rows that move to other tasks ------------------------------------------------------

  /** The time to bring a probe row to an idle core. Half of the work moves there, if there are two cores. */
  val ToMoveRow = new Yardstick("toMoveRow", 2000.0)

  /** So many times longer it takes to look a row up if there is no doubt that to move it pays. */
  val SurelyMore = new Yardstick("surelyMore", 20)

  /** To move so many probe rows takes some hundredths of a second, and to look at so many pairs some tenths. */
  val FewProbeRows = new Yardstick("fewProbeRows", 100000L)
  val ManyPairs = new Yardstick("manyPairs", 100000000L)

  /** From so many partitions for each core on, cores are hardly idle though some partitions are empty. */
  val PartitionsOfCore = new Yardstick("partitionsOfCore", 4)

  // ---- An index of the equality keys alone ------------------------------------------------------

  /** From so many build rows on it is worth the while to ask whether such an index serves. */
  val IndexOfKeysRows = new Yardstick("indexOfKeysRows", 4096L)

  /** So many rows of a key are tested in the time of a search among them. */
  val FewRowsOfKey = new Yardstick("fewRowsOfKey", 8L)

  /** The most rows of one key: probe rows may all have the most frequent key. */
  val MostRowsOfKey = new Yardstick("mostRowsOfKey", 64L)

  /** Of more rows the keys that wait would take tens of megabytes. */
  val MostWaitingRows = new Yardstick("mostWaitingRows", 1 << 20)

  // ---- Costs ------------------------------------------------------------------------------------

  /**
   * The time to collect and store a build row and send it to the tasks. Each of its bytes adds to it. A row of three
   * numbers takes some 300.
   */
  val MovedRow = new Yardstick("movedRow", 150.0)
  val MovedByte = new Yardstick("movedByte", 5.0)

  /** The time to give a candidate, and to test a condition on it. */
  val Candidate = new Yardstick("candidate", 2.0)
  val Residual = new Yardstick("residual", 5.0)

  /** The part of the candidates, in the order that is asked for, that are looked at until one matches. */
  val UntilMatch = new Yardstick("untilMatch", 0.5)

  /** The candidates that take as long as the aggregate of a run, however long it is. */
  val FoldedRows = new Yardstick("foldedRows", 64.0)

  /** The fewest rows of a run that are aggregated as a whole. */
  val FoldedRun = new Yardstick("foldedRun", 8)

  /**
   * Sets are asked for once a task's probe rows have had so many candidates each, one by one, and there were a quarter
   * as many for each build row.
   */
  val ManyListed = new Yardstick("manyListed", 32)

  /** So many build rows have the aggregate of all of them made once. */
  val FoldedBlock = new Yardstick("foldedBlock", 16)

  /** Cores that look probe rows up. A few: more would hardly change which side is built. */
  val Cores = new Yardstick("cores", 4.0)

  // ---- Sizes of sides ---------------------------------------------------------------------------

  /** A side that may be shuffled too is broadcast up to this part of a heap. */
  val HeapShare = new Yardstick("heapShare", 16L)

  /** Rows and index of a larger side would be beyond Spark's limit of a broadcast. */
  val MostBroadcastBytes = new Yardstick("mostBroadcastBytes", 1L << 30)

  /** So many times Spark's own limit of a broadcast a side may take where few rows of a key are looked at. */
  val RangeFactor = new Yardstick("rangeFactor", 4)

  /** More bytes than these take longer to broadcast and index than a few more stages of few rows do. */
  val ManyBytes = new Yardstick("manyBytes", 4L << 20)

  /** More elements are hardly ever computed where nobody would expect a row to be large. */
  val ManyElements = new Yardstick("manyElements", 64)

  /** By so much a relation is assumed to grow if nobody knows how many rows are to come. */
  val UnknownGrowth = new Yardstick("unknownGrowth", 2.0)

  /** Room is made for so many times the estimate: later rows may be larger, and a table may be about to grow. */
  val SpareRoom = new Yardstick("spareRoom", 1.25)

  // ---- Partitions, ranges and blocks ------------------------------------------------------------

  /** Spark keeps this part of a heap back. */
  val ReservedBytes = new Yardstick("reservedBytes", 300L << 20)

  /**
   * So many times the bytes of rows are expected to be held while an index is built: rows with their keys, and then
   * with their copy in order.
   */
  val BuildFactor = new Yardstick("buildFactor", 3L)

  /** The least bytes of build rows that a task is given, however small a heap is. */
  val LeastTaskBytes = new Yardstick("leastTaskBytes", 1L << 20)

  /** Ranges are dealt to partitions by hash: some get more of them than others, the less so the more there are. */
  val RangesPerPartition = new Yardstick("rangesPerPartition", 4)

  /** So many sampled rows put the rows of a range within some twenty percent of the intended number. */
  val SampledRowsPerRange = new Yardstick("sampledRowsPerRange", 60)

  /** The least rows that are sampled of a partition. */
  val LeastSampledRows = new Yardstick("leastSampledRows", 100)

  /** A partition is a part of a block, so that blocks are about equal. */
  val PartitionsPerBlock = new Yardstick("partitionsPerBlock", 16)

  /** A task is given so many times the bytes of a block of probe rows, if these may be cut. */
  val ProbeBlocks = new Yardstick("probeBlocks", 4)

  /** The most undominated rows that a task remembers. Of values in random order only some tens are there at once. */
  val UndominatedRows = new Yardstick("undominatedRows", 4096)

  /** For tests, until [[reset]]. */
  def set(name: String, value: Long): Unit = byName(name).set(value)

  def reset(name: String): Unit = byName(name).reset()
}
