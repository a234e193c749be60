package thetajoin.accelerator

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import org.scalacheck.Gen
import org.scalatest.Assertions

import thetajoin.contract.{
  IndexSpec,
  JoinIndex,
  LongsLookup,
  LongsProber,
  OrderedIndex
}

/** Generated rows of an index over equal keys and numbers, and what it finds, asked in all the ways in which it can be. */
trait KeyedIndexes { this: Assertions =>
  protected val anyLong: Gen[Long] = Gen.frequency(
    6 -> Gen.choose(-9L, 9L),
    2 -> Gen.choose(0L, 100000L),
    1 -> Gen.oneOf(Long.MinValue, Long.MinValue + 1, -1L, 0L, Long.MaxValue - 1, Long.MaxValue),
    1 -> Gen.long
  )
  protected val pairs: Gen[(Long, Long)] = Gen.zip(anyLong, anyLong)
  protected val flags: Gen[Boolean] = Gen.oneOf(true, false)

  /** Equal keys beside the numbers: none, a number, or strings; a key of a row is one of few. */
  protected val keyTypes: Gen[Seq[DataType]] =
    Gen.oneOf(
      Nil,
      Seq(LongType),
      Seq(LongType, LongType),
      Seq(StringType),
      Seq(StringType, LongType)
    )

  /** Some rows of each key, or one of each. */
  protected def manyOrOne[A](row: Gen[A])(key: A => Int): Gen[List[A]] = {
    val many = Gen.listOf(row)
    Gen.frequency(2 -> many, 1 -> many.map(_.distinctBy(key)))
  }

  protected def keyValues(types: Seq[DataType], key: Int): Seq[Any] = types.map {
    case LongType => key.toLong
    case _ => UTF8String.fromString("key-number-" + key)
  }

  protected def rows(types: Seq[DataType], numbers: Int): (Int, Seq[Long]) => UnsafeRow = {
    val toUnsafe = UnsafeProjection.create((types ++ Seq.fill(numbers)(LongType)).toArray)
    (key: Int, values: Seq[Long]) =>
      toUnsafe(InternalRow(keyValues(types, key) ++ values: _*)).copy()
  }

  protected def build(
      spec: IndexSpec,
      types: Seq[DataType],
      keyed: Seq[InternalRow]
  ): OrderedIndex = {
    val builder = spec.newBuilder(types)
    keyed.foreach(builder.add)
    val built = builder.finish()
    built.copy(index = sent(built.index))
  }

  /** As an executor gets it. */
  protected def sent(index: JoinIndex): JoinIndex = {
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(index)
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject()
      .asInstanceOf[JoinIndex]
  }

  protected def candidates(built: OrderedIndex, key: InternalRow): Seq[Int] = {
    val prober = built.index.newProber()
    def found() = Found.all(prober).map(built.order(_))
    prober.probe(key)
    val ofRow = found()
    prober match {
      case numbers: LongsProber =>
        numbers.probe(Array.tabulate(key.numFields)(key.getLong))
        assert(found() == ofRow)
      case _ =>
    }
    built.index match {
      case index: LongsLookup =>
        val found = index.find(Array.tabulate(key.numFields)(key.getLong))
        assert(Seq(found).filter(_ >= 0).map(built.order(_)) == ofRow)
        if (found >= 0) lookups += index.getClass
      case _ =>
    }
    ofRow
  }

  /** Of what classes indexes were that gave a candidate by one call. */
  protected val lookups: mutable.Set[Class[_]] = mutable.Set.empty[Class[_]]

  /** The same asked in two steps, of one prober for keys that come in this order. */
  protected def inBatches(
      built: OrderedIndex,
      keys: Int,
      asked: Seq[InternalRow]
  ): Seq[Seq[Int]] = {
    val prober = built.index.newBatchProber().get
    asked.map { key =>
      def number(i: Int) = if (i < key.numFields) key.getLong(i) else 0L
      val group =
        if (keys == 0 || keys == 1 && prober.isInstanceOf[LongsProber])
          prober.group(if (keys == 0) 0L else key.getLong(0))
        else prober.group(key)
      if (group < 0) Nil
      else {
        val (first, second) = (number(keys), number(keys + 1))
        prober.probe(group, first, second)
        Found.all(prober).map(built.order(_)).sorted
      }
    }
  }
}
