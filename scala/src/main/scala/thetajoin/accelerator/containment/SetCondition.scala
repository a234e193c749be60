package thetajoin.accelerator.containment

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import thetajoin.condition.{Safety, Sides}

/**
 * A conjunct about the elements that a set of one side and a set of the other have in common. Where the conjunct
 * holds for a pair of rows, so does this.
 *
 * @param source the conjunct
 * @param exact whether the conjunct holds wherever this does, for sets without nulls in them
 */
private[containment] sealed trait SetCondition {
  def source: Expression
  def left: Elements
  def right: Elements
  def exact: Boolean

  /** Whether a null is an element like others, equal to itself. Otherwise it is equal to nothing. */
  def nullsAreEqual: Boolean

  /** An expression of one side, if the elements in common are compared with one. */
  def column: Option[Expression] = None

  /** The sets, of the build side and of the probe side. */
  final def oriented(buildIsLeft: Boolean): (Elements, Elements) =
    if (buildIsLeft) (left, right) else (right, left)
}

/** A set of values of one row: the elements of an array, or one value. */
private[containment] sealed trait Elements {
  def e: Expression
  def elementType: DataType
  def isArray: Boolean
  def mayHaveNulls: Boolean
}

private[containment] object Elements {
  final case class OfArray(e: Expression) extends Elements {
    private def array = e.dataType.asInstanceOf[ArrayType]
    override def elementType: DataType = array.elementType
    override def isArray: Boolean = true
    override def mayHaveNulls: Boolean = array.containsNull
  }

  /** A row in which the value is null matches nothing. */
  final case class One(e: Expression) extends Elements {
    override def elementType: DataType = e.dataType
    override def isArray: Boolean = false
    override def mayHaveNulls: Boolean = false
  }
}

/** The sets have so many different elements in common at least. */
private[containment] final case class Shares(
    source: Expression,
    left: Elements,
    right: Elements,
    least: Int,
    nullsAreEqual: Boolean,
    exact: Boolean
) extends SetCondition

/** One set has all elements of the other. */
private[containment] final case class Covers(
    source: Expression,
    left: Elements,
    right: Elements,
    leftCovers: Boolean,
    nullsAreEqual: Boolean,
    exact: Boolean
) extends SetCondition

/** The sets are as alike as a form asks for. */
private[containment] final case class Alike(
    source: Expression,
    left: Elements,
    right: Elements,
    form: AlikeForm
) extends SetCondition {
  override def nullsAreEqual: Boolean = true
  override def exact: Boolean = false
  override def column: Option[Expression] = form.column

  /** Whether another one is about the same sets and the same part of them. */
  def isOfSame(other: Alike): Boolean = form.of == other.form.of &&
    left.e.semanticEquals(other.left.e) && right.e.semanticEquals(other.right.e)

  def measure(buildIsLeft: Boolean): Measure = form.of match {
    case AlikeForm.Union => Measure.Jaccard
    case AlikeForm.Sum => Measure.OfSum
    case AlikeForm.GeometricMean => Measure.Cosine
    case AlikeForm.Smaller => Measure.OfSmaller
    case AlikeForm.Larger => Measure.OfLarger
    case AlikeForm.One => Measure.Count
    case side =>
      if ((side == AlikeForm.Left) == buildIsLeft) Measure.OfBuild else Measure.OfProbe
  }
}

private[containment] object SetCondition {
  import Elements._

  /** The question of a conjunct, if it is about sets of both sides. */
  def of(conjunct: Expression, sides: Sides): Option[SetCondition] =
    sets(conjunct).find(c => sides.split(c.left.e, c.right.e)).map { found =>
      if (sides.ofLeft(found.left.e)) found else turned(found)
    }

  /** The same of an order. It asks for no part. */
  def ofRank(rank: Expression, form: NearestForm, sides: Sides): Option[Alike] =
    alike(rank, form.part.from(Literal(0.0))).filter(a => sides.split(a.left.e, a.right.e))
      .map(a => if (sides.ofLeft(a.left.e)) a else turned(a))

  private def turned(a: Alike): Alike =
    a.copy(left = a.right, right = a.left, form = a.form.turned)

  private def alike(source: Expression, form: AlikeForm): Option[Alike] =
    if (isFloating(form.shared)) None
    else Some(Alike(source, OfArray(form.shared.left), OfArray(form.shared.right), form))

  private def turned(condition: SetCondition): SetCondition = condition match {
    case c: Shares => c.copy(left = c.right, right = c.left)
    case c: Covers => c.copy(left = c.right, right = c.left, leftCovers = !c.leftCovers)
    case c: Alike => turned(c)
  }

  private def sets(e: Expression): Option[SetCondition] = e match {
    case ArrayContains(array, value) => Some(shares(e, OfArray(array), One(value)))
    case ArraysOverlap(l, r) =>
      Some(shares(e, OfArray(l), OfArray(r), exact = !isFloating(OfArray(l).elementType)))
    case In(value, list) if list.size > 1 => Some(shares(e, OfArray(CreateArray(list)), One(value)))
    case IsNotNull(GetMapValue(map, key)) =>
      Some(shares(e, OfArray(MapKeys(map)), One(key), exact = false))
    case IsNotNull(ElementAt(map, key, _, _)) if map.dataType.isInstanceOf[MapType] =>
      Some(shares(e, OfArray(MapKeys(map)), One(key), exact = false))
    case ArrayExists(array, EachElement(x, body), _) =>
      quantified(e, array, x, body, forAll = false)
    case ArrayForAll(array, EachElement(x, body)) => quantified(e, array, x, body, forAll = true)
    case AtLeast(SizeOf(ArrayIntersect(l, r)), Literal(least: Int, IntegerType)) if least > 0 =>
      // 0.0 and -0.0 may be two elements for Spark. They are one here.
      val found = if (isFloating(l)) 1 else least
      Some(Shares(e, OfArray(l), OfArray(r), found, nullsAreEqual = true, exact = !isFloating(l)))
    case AtLeast(Size(intersect: ArrayIntersect, false), Size(part, false)) =>
      coversPart(e, intersect, part)
    case EqualTo(Size(intersect: ArrayIntersect, false), Size(part, false)) =>
      coversPart(e, intersect, part)
    case EqualTo(Size(part, false), Size(intersect: ArrayIntersect, false)) =>
      coversPart(e, intersect, part)
    case AlikeForm(form) => alike(e, form)
    case IsEmpty(ArrayExcept(part, whole)) =>
      Some(Covers(
        e,
        OfArray(whole),
        OfArray(part),
        leftCovers = true,
        nullsAreEqual = true,
        exact = !isFloating(part)
      ))
    case _ => None
  }

  private def shares(e: Expression, l: Elements, r: Elements, exact: Boolean = true): Shares =
    Shares(e, l, r, least = 1, nullsAreEqual = false, exact)

  /** As many elements in common as one of the sets has: if that has none twice, it is covered. */
  private def coversPart(
      e: Expression,
      intersect: ArrayIntersect,
      part: Expression
  ): Option[SetCondition] = {
    val (l, r) = (intersect.left, intersect.right)
    val elements = part match {
      case ArrayDistinct(array) => array
      case array => array
    }
    val whole =
      if (elements.semanticEquals(l)) Some(r) else if (elements.semanticEquals(r)) Some(l) else None
    whole.map(w =>
      Covers(
        e,
        OfArray(w),
        OfArray(elements),
        leftCovers = true,
        nullsAreEqual = true,
        exact = false
      )
    )
  }

  /** The condition on one element of an array, or on each: to be equal to a value, or in another array. */
  private def quantified(
      e: Expression,
      array: Expression,
      x: NamedLambdaVariable,
      body: Expression,
      forAll: Boolean
  ): Option[SetCondition] = body match {
    case EqualTo(l, r) if !forAll =>
      as(array, x, l).map(shares(e, _, One(r))).orElse(as(array, x, r).map(shares(e, _, One(l))))
    case ArrayContains(other, value) if !other.exists(_.semanticEquals(x)) =>
      as(array, x, value).map { elements =>
        if (!forAll) shares(e, elements, OfArray(other))
        else {
          // Nothing is asked of the other array for an array without elements, not even to be there.
          val empty = Literal.create(Seq.empty, other.dataType)
          val whole = OfArray(Coalesce(Seq(other, empty)))
          Covers(e, whole, elements, leftCovers = true, nullsAreEqual = false, exact = true)
        }
      }
    case _ => None
  }

  /** The array as elements. Each is the result of `value` for it: itself, or itself in a wider type. */
  private def as(array: Expression, x: NamedLambdaVariable, value: Expression): Option[Elements] =
    value match {
      case v if v.semanticEquals(x) => Some(OfArray(array))
      case Cast(v, to, zone, mode) if v.semanticEquals(x) && Safety.widens(v.dataType, to) =>
        val nulls = array.dataType.asInstanceOf[ArrayType].containsNull
        Some(OfArray(Cast(array, ArrayType(to, nulls), zone, mode)))
      case _ => None
    }

  /** Spark's sets of floating numbers tell values apart that are equal, in some versions. */
  @tailrec private def isFloating(t: DataType): Boolean = t match {
    case DoubleType | FloatType => true
    case ArrayType(element, _) => isFloating(element)
    case _ => false
  }

  private def isFloating(array: Expression): Boolean = isFloating(array.dataType)
}
