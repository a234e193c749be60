package thetajoin.accelerator.patterns

import java.util.Arrays

import thetajoin.kit.IntsBuilder

/**
 * The rows that need a string, in cells: a cell for each group of equality keys. Strings are numbered through all
 * places of them. The last number stands for no string: its rows are candidates of all texts.
 *
 * @param cells of each string the first; one more at the end
 * @param groups of each cell; ascending within a string
 * @param starts of each cell, its first place in `postings`; one more at the end
 * @param tested of each cell, its first place in `postings` of a row that has to be tested
 * @param postings positions
 */
private[patterns] final class Cells(
    cells: Array[Int],
    groups: Array[Int],
    val starts: Array[Int],
    val tested: Array[Int],
    val postings: Array[Int]
) extends Serializable {
  def bytes: Long =
    4L * (cells.length + groups.length + starts.length + tested.length + postings.length)

  /** The cell of a string and a group; below zero without one. */
  def find(string: Int, group: Int): Int = {
    val from = cells(string)
    val until = cells(string + 1)
    if (until - from == 1) if (groups(from) == group) from else -1
    else Arrays.binarySearch(groups, from, until, group)
  }
}

/** Takes strings, and after each its cells, and after each of these its rows. */
private[patterns] final class CellsBuilder(rows: Int) {
  private val cells, groups, starts, tested, postings = new IntsBuilder
  private val positions = Array.fill(rows)(-1)
  private val arrived = new IntsBuilder
  private var testedFrom = 0

  def string(): Unit = {
    endCell()
    cells.add(groups.length)
  }

  def cell(group: Int): Unit = {
    endCell()
    groups.add(group)
    starts.add(postings.length)
    testedFrom = postings.length
  }

  def row(row: Int, isAll: Boolean): Unit = {
    if (positions(row) < 0) {
      positions(row) = arrived.length
      arrived.add(row)
    }
    postings.add(positions(row))
    if (isAll) testedFrom = postings.length
  }

  private def endCell(): Unit = if (tested.length < groups.length) tested.add(testedFrom)

  /** Rows in the order of their positions. */
  def order: Array[Int] = arrived.result()

  def result(): Cells = {
    endCell()
    cells.add(groups.length)
    starts.add(postings.length)
    new Cells(
      cells.result(),
      groups.result(),
      starts.result(),
      tested.result(),
      postings.result()
    )
  }
}
