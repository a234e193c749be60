package thetajoin.accelerator.vector

import org.apache.spark.sql.catalyst.expressions.{
  AttributeSet,
  Cast,
  Expression,
  SortOrder
}
import org.apache.spark.sql.types.{ArrayType, DoubleType, FloatType}

import thetajoin.condition.{OrderedBy, Safety, Sides}
import thetajoin.contract.{Accelerator, Contract, Cost, JoinRequest, Need, Offer}
import thetajoin.kit.EqualKeys
import thetajoin.reason.{Reason, ReasonCode}

/**
 * Vectors that are similar, with or without equality keys.
 *
 * {{{
 *   vector_cosine_similarity(a.v, b.v) > 0.9              vector_l2_distance(a.v, b.v) < a.reach
 *   NEAREST 5 BY SIMILARITY vector_inner_product(a.v, b.v)
 *   sqrt(aggregate(zip_with(a.v, b.v, (x, y) -> pow(x - y, 2)), 0D, (sum, z) -> sum + z)) < 2
 * }}}
 *
 * A block of probe vectors meets all build vectors by a matrix product in 32 bits. This leaves few rows, and Spark's
 * own function decides on them.
 */
object VectorAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "vector"

  override val summary: String =
    "Cosine similarity, inner product or distance of vectors of both sides, compared with a " +
      "bound or the nearest first, with or without equality keys: blocks of probe vectors meet " +
      "the build vectors by a matrix product."

  case object NoVectors
      extends ReasonCode(
        "NO_VECTORS",
        "The condition compares no vectors with a similarity or a distance, and no order " +
          "ranks by one",
        "Nothing to do unless the join is about vectors: docs/vectors.md lists the forms."
      )

  override def reasons: Seq[ReasonCode] = Seq(NoVectors)

  override def wireClasses: Seq[Class[_]] = Seq(
    classOf[Vectors],
    classOf[VectorRows],
    classOf[Panels],
    classOf[Asked],
    classOf[Line],
    classOf[Array[Float]],
    classOf[Array[Array[Float]]]
  )

  override def offer(request: JoinRequest): Either[Reason, Offer] = {
    val sides = new Sides(AttributeSet(request.build), AttributeSet(request.probe))
    val ranked = request.need match {
      case Need.Lowest(k, rank) => this.ranked(k, rank, sides)
      case _ => None
    }
    val bounded = request.paired.map(_.source).flatMap(this.bounded(_, sides))
    val first = ranked.orElse(bounded.headOption)
    first.fold[Either[Reason, Offer]](Left(NoVectors())) { of =>
      val bound = bounded.find(_.isOfSame(of))
      EqualKeys.of(request.shape, request.buildSide).map { equal =>
        val (build, probe) = (singles(of.vectors._1), singles(of.vectors._2))
        equal.ahead(Offer(
          served = (bound ++ ranked).map(_.source).toSeq,
          exact = Nil,
          buildKeys = Seq(build),
          probeKeys = probe +: bound.flatMap(_.bound).toSeq,
          VectorsSpec(
            equal.size,
            Asked(
              of.measure == Measure.Cosine,
              of.measure == Measure.Distance,
              bound.map(_.line).orNull,
              ranked.map(_.line).orNull,
              ranked.exists(_.isDescending),
              ranked.fold(0)(_.most),
              of.isSingle,
              areRounded = build != of.vectors._1 || probe != of.vectors._2
            )
          ),
          cost = if (equal.isEmpty) Alone else Keyed
        ))
      }
    }
  }

  /** Some vectors of (build, probe), and the condition on a value that follows from how they compare. */
  private final case class Wanted(
      source: Expression,
      vectors: (Expression, Expression),
      similarity: Similarity,
      bound: Option[Expression] = None,
      isDescending: Boolean = false,
      most: Int = 0
  ) {
    def measure: Measure = similarity.compared.measure
    def isSingle: Boolean = similarity.compared.isSingle
    def line: Line = similarity.line

    def isOfSame(other: Wanted): Boolean =
      vectors == other.vectors && measure == other.measure && isSingle == other.isSingle
  }

  private def compared(value: Expression, isMore: Boolean, sides: Sides): Option[Wanted] =
    for {
      similarity <- Similarity.of(value)
      if similarity.isNearerIfMore == isMore
      vectors <- similarity.oriented(sides)
    } yield Wanted(value, vectors, similarity)

  /** Coordinates in 32 bits. */
  private def singles(vector: Expression): Expression = vector.dataType match {
    case ArrayType(DoubleType, containsNull) => Cast(vector, ArrayType(FloatType, containsNull))
    case _ => vector
  }

  private def ranked(k: Int, rank: SortOrder, sides: Sides): Option[Wanted] =
    compared(rank.child, isMore = !rank.isAscending, sides)
      .map(_.copy(isDescending = !rank.isAscending, most = k))

  private def bounded(source: Expression, sides: Sides): Option[Wanted] = source match {
    case OrderedBy(l, operator, r) if isBound(r, sides) =>
      compared(l, isMore = !operator.isBelow, sides).map(_.copy(source, bound = Some(double(r))))
    case OrderedBy(l, operator, r) if isBound(l, sides) =>
      compared(r, isMore = operator.isBelow, sides).map(_.copy(source, bound = Some(double(l))))
    case _ => None
  }

  private def isBound(e: Expression, sides: Sides): Boolean =
    (e.references.isEmpty && e.foldable || sides.ofRight(e)) && Safety.cannotFail(e) &&
      (e.dataType == DoubleType || e.dataType == FloatType)

  private def double(e: Expression): Expression =
    if (e.dataType == DoubleType) e else Cast(e, DoubleType)

  /** Each pair is computed, which takes much less time than to evaluate its condition. */
  private val Alone = Cost(share = 0.001, perProbe = 500, perBuildRow = 1000, perPair = 2)
  private val Keyed = Alone.copy(share = 0.0005, perPair = 0.2)
}
