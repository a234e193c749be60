package thetajoin.testkit

/** A query of two tables `a` and `b` with one join. */
sealed abstract class JoinForm {
  def name: String

  /** The sides that a hint can have built. */
  private[testkit] def hinted: Seq[String] = Nil

  private[testkit] def query(hint: String, on: String): String
  override def toString: String = name
}

object JoinForm {
  case object Inner extends Typed("JOIN")
  case object LeftOuter extends Typed("LEFT JOIN")
  case object RightOuter extends Typed("RIGHT JOIN")
  case object FullOuter extends Typed("FULL JOIN")
  case object Semi extends Typed("LEFT SEMI JOIN")
  case object Anti extends Typed("LEFT ANTI JOIN")

  /** EXISTS in an OR, which marks rows. */
  case object Marked extends JoinForm {
    override def name: String = "EXISTS"
    override private[testkit] def hinted: Seq[String] = Seq("b")
    override private[testkit] def query(hint: String, on: String): String =
      s"SELECT * FROM a WHERE ${Table.Rest} = 1 OR EXISTS (SELECT $hint 1 FROM b WHERE $on)"
  }

  /** The first `k` matches of a row of `a` by an expression, such as `abs(a.x - b.y)`. */
  final case class First(k: Int, rank: String, isDescending: Boolean = false) extends JoinForm {
    override def name: String = s"the first $k by $rank${if (isDescending) " DESC" else ""}"

    /** Of rows with the same rank any may be chosen, so the rank stands for the row. Hints are for joins. */
    override private[testkit] def query(hint: String, on: String): String =
      s"SELECT a.*, ranked FROM a, LATERAL (SELECT $rank AS ranked FROM b WHERE $on AND $rank IS NOT NULL " +
        s"ORDER BY ranked${if (isDescending) " DESC" else ""} LIMIT $k)"
  }

  val all: Seq[JoinForm] = Seq(Inner, LeftOuter, RightOuter, FullOuter, Semi, Anti, Marked)

  /** The forms that ask only whether there is a match. */
  val existence: Seq[JoinForm] = Seq(Semi, Anti, Marked)

  sealed abstract class Typed(val name: String) extends JoinForm {
    override private[testkit] def hinted: Seq[String] = Seq("a", "b")
    override private[testkit] def query(hint: String, on: String): String =
      s"SELECT $hint * FROM a $name b ON $on"
  }
}
