package thetajoin.accelerator.containment

import java.util.Arrays

import thetajoin.contract.{JoinIndex, Prober}
import thetajoin.kit.Stamps

/** Build rows have one value each. The rows of token t are `[starts(t), starts(t + 1))`. */
final class TokenRuns(finder: TokenFinder, starts: Array[Int]) extends JoinIndex {
  override def bytes: Long = finder.bytes + 4L * starts.length

  override def newProber(): Prober = new TokenProber(finder) {
    private var at = 0

    override protected def begin(): Unit = at = 0

    override def next(): Boolean = {
      val found = at < reader.size
      if (found) {
        runFrom = starts(reader.token(at))
        runUntil = starts(reader.token(at) + 1)
        at += 1
      }
      found
    }
  }
}

/**
 * Rows that have any token of the probe row: the rows of one token after another, without rows that an earlier token
 * has given.
 */
final class AnyToken(finder: TokenFinder, postings: Postings) extends JoinIndex {
  override def bytes: Long = finder.bytes + postings.bytes

  override def newProber(): Prober = new TokenListProber(finder) {
    private lazy val seen = new Stamps(finder.rows)
    private var at = 0

    override protected def begin(): Unit = at = 0

    override def next(): Boolean = {
      var found = false
      while (!found && at < reader.size) {
        found =
          if (at == 0) give(postings, reader.token(0))
          else {
            if (at == 1) {
              seen.restart()
              collect(reader.token(0))
            }
            collect(reader.token(at))
            giveCollected()
          }
        at += 1
      }
      found
    }

    private def collect(token: Int): Unit = {
      collected.clear()
      cancellation.count(postings.count(token))
      var i = postings.starts(token)
      while (i < postings.starts(token + 1)) {
        if (seen.add(postings.rows(i))) collected.add(postings.rows(i))
        i += 1
      }
    }
  }
}

/** Rows that have all tokens of the probe row: the rows with the rarest token are tested for the other tokens. */
final class AllOfProbe(finder: TokenFinder, postings: Postings, sets: TokenSets) extends JoinIndex {
  override def bytes: Long = finder.bytes + postings.bytes + sets.bytes

  override def newProber(): Prober = new OneListProber(finder) {
    private lazy val all = Array.range(0, finder.rows)

    override protected def found(): Boolean =
      if (reader.hasOthers) false
      else if (reader.size == 0) give(all, 0, finder.rows)
      else {
        val rarest = rarestToken()
        if (reader.size == 1) give(postings, rarest)
        else {
          collected.clear()
          var i = postings.starts(rarest)
          while (i < postings.starts(rarest + 1)) {
            cancellation.count(reader.size)
            if (hasAll(postings.rows(i))) collected.add(postings.rows(i))
            i += 1
          }
          giveCollected()
        }
      }

    private def rarestToken(): Int = {
      var rarest = reader.token(0)
      var t = 1
      while (t < reader.size) {
        if (postings.count(reader.token(t)) < postings.count(rarest)) rarest = reader.token(t)
        t += 1
      }
      rarest
    }

    private def hasAll(row: Int): Boolean = {
      val (from, until) = (sets.starts(row), sets.starts(row + 1))
      var t = 0
      while (t < reader.size && Arrays.binarySearch(sets.tokens, from, until, reader.token(t)) >= 0)
        t += 1
      t == reader.size
    }
  }
}

/**
 * Rows whose tokens the probe row all has. A row is looked at if the probe row has its rarest token, and a row
 * without tokens always.
 */
final class AllOfBuild(finder: TokenFinder, rarest: Postings, sets: TokenSets) extends JoinIndex {
  override def bytes: Long = finder.bytes + rarest.bytes + sets.bytes

  override def newProber(): Prober = new TokenListProber(finder) {
    private val ofProbe = new Stamps(finder.vocabulary.size)
    private var at = 0

    override protected def begin(): Unit = {
      at = 0
      ofProbe.restart()
      var t = 0
      while (t < reader.size) {
        ofProbe.add(reader.token(t)): Unit
        t += 1
      }
    }

    override def next(): Boolean = {
      var found = false
      while (!found && at < reader.size) {
        collect(reader.token(at))
        found = giveCollected()
        at += 1
      }
      found || at == reader.size && {
        at += 1
        give(rarest, finder.vocabulary.size)
      }
    }

    private def collect(token: Int): Unit = {
      collected.clear()
      var i = rarest.starts(token)
      while (i < rarest.starts(token + 1)) {
        cancellation.count(1)
        if (isCovered(rarest.rows(i))) collected.add(rarest.rows(i))
        i += 1
      }
    }

    private def isCovered(row: Int): Boolean = {
      var i = sets.starts(row)
      while (i < sets.starts(row + 1) && ofProbe.contains(sets.tokens(i))) i += 1
      i == sets.starts(row + 1)
    }
  }
}
