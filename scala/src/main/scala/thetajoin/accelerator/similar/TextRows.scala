package thetajoin.accelerator.similar

import thetajoin.kit.keys.Groups

/**
 * The texts of build rows.
 *
 * @param keys how many columns of a probe key row are ahead of the text
 * @param groupOf the group of each row, by its keys
 * @param texts the characters of all rows
 * @param starts where the text of each row starts, and the end of the last
 */
final class TextRows(
    val keys: Int,
    val groups: Groups,
    val groupOf: Array[Int],
    val texts: Array[Int],
    val starts: Array[Int]
) extends Serializable {
  def bytes: Long = groups.bytes + 4L * (groupOf.length + texts.length + starts.length)
  def size: Int = groupOf.length
  def length(row: Int): Int = starts(row + 1) - starts(row)

  /** Of each row: see [[Letters.signature]]. */
  def signatures: Array[Long] =
    Array.tabulate(size)(row => Letters.signature(texts, starts(row), starts(row + 1)))
}
