package thetajoin.accelerator.containment

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, IndexSpec, JoinIndex, OrderedIndex}
import thetajoin.kit.keys.ValueNumbering
import thetajoin.kit.{IntsBuilder, KeyTypes}

/** The elements that the sets of a pair must have in common. */
private[containment] sealed trait InCommon

private[containment] object InCommon {

  /** So many tokens at least. */
  final case class AtLeast(tokens: Int) extends InCommon

  /** All tokens of the probe row. */
  case object AllOfProbe extends InCommon

  /** All tokens of the build row. */
  case object AllOfBuild extends InCommon

  /**
   * As many as a measure says.
   *
   * @param matchEmpty whether sets without tokens may be alike
   */
  final case class Alike(measure: Measure, matchEmpty: Boolean) extends InCommon
}

/**
 * Sets by their tokens. A key row of either side has the keys that must be equal, then an array or a value.
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
  override def forOne: IndexSpec = copy(distinct = inCommon == InCommon.AtLeast(1))

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new ContainmentBuilder(this, new TokenForm(KeyTypes(keyTypes.init :+ elementType), nullTokens))
}

private final class ContainmentBuilder(spec: ContainmentSpec, form: TokenForm)
    extends IndexBuilder {
  private val numbering = new ValueNumbering(form.areNumbers)
  private val reader = new TokenReader(form, spec.buildsArrays, numbering)
  private val tokens, starts = new IntsBuilder
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
  }

  /** Besides the sets: the rows of each token, where these start, twice, and the order of rows. */
  override def bytes: Long = numbering.allBytes + 2 * (tokens.bytes + starts.bytes) +
    4L * (tokens.length + 2 * numbering.size + starts.length)

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
        case InCommon.Alike(measure, matchEmpty) => AlikeSets(finder, measure, sets, matchEmpty)
        case InCommon.AtLeast(1) =>
          inOrderOfArrival(new AnyToken(finder, sets.postings(vocabulary.size)))
        case InCommon.AtLeast(least) =>
          inOrderOfArrival(new ManyTokens(finder, sets.postings(vocabulary.size), least))
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
