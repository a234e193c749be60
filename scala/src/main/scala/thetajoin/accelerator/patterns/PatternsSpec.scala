package thetajoin.accelerator.patterns

import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, IndexSpec}

/**
 * Patterns by the strings that texts need to match them, or texts by the strings that they have. A key row has the
 * keys that must be equal, then the pattern or the text.
 *
 * @param keys how many columns must be equal
 * @param buildsTexts whether build rows are texts, or else patterns
 * @param isExact whether candidates are not tested again, so that a pattern which can't be used has to raise its
 *   error
 * @param asksFirst whether one candidate of a probe row is enough
 */
private[patterns] final case class PatternsSpec(
    keys: Int,
    form: PatternForm,
    buildsTexts: Boolean,
    isExact: Boolean,
    asksFirst: Boolean = false
) extends IndexSpec {
  override def forOne: IndexSpec = copy(asksFirst = true)

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder = {
    val types = keyTypes.take(keys)
    if (buildsTexts) new TextsBuilder(form, isExact, asksFirst, types)
    else new PatternsBuilder(form, isExact, asksFirst, types)
  }
}
