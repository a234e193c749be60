package thetajoin.accelerator.containment

import scala.collection.mutable.ArrayBuilder

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, IndexSpec, JoinIndex, OrderedIndex}
import thetajoin.kit.keys.{KeyedNumbers, ValueNumbering}
import thetajoin.kit.{IntsBuilder, KeyTypes}

/** The elements that the sets of a pair must have in common. */
private[containment] sealed trait InCommon {

  /** Whether a number of each build row says more. */
  def ofRows: Boolean = false
}

private[containment] object InCommon {

  /** One token at least. */
  case object One extends InCommon

  /** All tokens of the probe row. */
  case object AllOfProbe extends InCommon

  /** All tokens of the build row. */
  case object AllOfBuild extends InCommon

  /**
   * As many as a measure says.
   *
   * @param part the same for all rows; none if it follows the set in the key row of a build row
   * @param matchEmpty whether sets without tokens may be alike
   */
  final case class Alike(measure: Measure, part: Option[Double], matchEmpty: Boolean)
      extends InCommon {
    override def ofRows: Boolean = part.isEmpty
  }

  /** As many as the first k matches in an order need. */
  final case class Nearest(order: NearestOrder) extends InCommon
}

/**
 * Sets by their tokens. A key row of either side has the keys that must be equal, then an array or a value. A key row
 * of the build side may have a number after them.
 *
 * @param elementType of arrays, and of values unless they come as an [[thetajoin.condition.OrderedLong]]
 * @param buildsArrays whether build rows have an array, not a value
 * @param probesArrays the same for probe rows
 * @param nullTokens whether a null in an array is equal to one in another
 * @param distinct whether one row of each value is enough
 */
final case class ContainmentSpec(
    inCommon: InCommon,
    elementType: DataType,
    buildsArrays: Boolean,
    probesArrays: Boolean,
    nullTokens: Boolean,
    distinct: Boolean = false
) extends IndexSpec {
  override def forOne: IndexSpec = copy(distinct = inCommon == InCommon.One)

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder = {
    val equal = keyTypes.dropRight(if (inCommon.ofRows) 2 else 1)
    val groups = inCommon match {
      case _: InCommon.Nearest => Some(new KeyedNumbers(equal, values = 0))
      case _ => None
    }
    new ContainmentBuilder(this, new TokenForm(KeyTypes(equal :+ elementType), nullTokens), groups)
  }
}

/** @param groups of rows with the same equality keys, where they are needed */
private final class ContainmentBuilder(
    spec: ContainmentSpec,
    form: TokenForm,
    groups: Option[KeyedNumbers]
) extends IndexBuilder {
  private val numbering = new ValueNumbering(form.areNumbers)
  private val reader = new TokenReader(form, spec.buildsArrays, numbering)
  private val tokens, starts = new IntsBuilder
  private val parts = new ArrayBuilder.ofDouble
  starts.add(0)

  override def add(key: InternalRow): Unit = {
    reader.read(key)
    // No set has all elements of a row that has a null which is equal to nothing.
    if (spec.inCommon == InCommon.AllOfBuild && reader.hasOthers) tokens.add(TokenSets.Unmatchable)
    else {
      var i = 0
      while (i < reader.size) {
        tokens.add(reader.token(i))
        i += 1
      }
    }
    starts.add(tokens.length)
    groups.foreach(_.add(key))
    if (spec.inCommon.ofRows) parts.addOne(key.getDouble(form.keys + 1))
  }

  /**
   * Besides the sets: the rows of each token, where these start, twice, and the order of rows. If tokens are numbered
   * by how rare they are, the sets are there twice more, with their first tokens and signatures.
   */
  override def bytes: Long = numbering.allBytes + 2 * (tokens.bytes + starts.bytes) +
    4L * (tokens.length + 2 * numbering.size + starts.length) + 2 * 8L * parts.length +
    (if (isRareFirst) 6 * 4L * tokens.length else 0L) + groups.fold(0L)(_.bytes)

  private def isRareFirst: Boolean = spec.inCommon match {
    case _: InCommon.Alike | _: InCommon.Nearest => true
    case _ => false
  }

  override def finish(): OrderedIndex = {
    val vocabulary = numbering.result()
    val sets = new TokenSets(starts.result(), renumbered(tokens.result()))
    if (!spec.buildsArrays) {
      val postings = sets.postings(vocabulary.size)
      val kept = if (spec.distinct) postings.firsts else postings
      val finder = new TokenFinder(form, vocabulary, spec.probesArrays, kept.rows.length)
      OrderedIndex(new TokenRuns(finder, kept.starts), kept.rows)
    } else {
      val finder = new TokenFinder(form, vocabulary, spec.probesArrays, sets.rows)
      def inOrderOfArrival(index: JoinIndex) = OrderedIndex(index, Array.range(0, sets.rows))
      spec.inCommon match {
        case InCommon.Alike(measure, part, matchEmpty) =>
          val ofRows = part.fold(Parts(parts.result()))(Parts.same)
          AlikeSets(finder, sets, measure, ofRows, matchEmpty)
        case InCommon.Nearest(order) => NearestSets(finder, sets, order, groups.get)
        case InCommon.One =>
          inOrderOfArrival(new AnyToken(finder, sets.postings(vocabulary.size)))
        case InCommon.AllOfProbe =>
          inOrderOfArrival(
            new AllOfProbe(finder, sets.postings(vocabulary.size), sets.sorted)
          )
        case InCommon.AllOfBuild =>
          inOrderOfArrival(new AllOfBuild(finder, sets.rarest(vocabulary.size), sets))
      }
    }
  }

  private def renumbered(tokens: Array[Int]): Array[Int] = {
    var i = 0
    while (i < tokens.length) {
      tokens(i) = numbering.renumbered(tokens(i))
      i += 1
    }
    tokens
  }
}
