package thetajoin.functions.network

import org.apache.spark.unsafe.types.UTF8String

/**
 * Reads an address of IPv4 or IPv6, or a network in CIDR notation, as a number of 128 bits in two halves. An address
 * of IPv4 is the address `::ffff:a.b.c.d` of IPv6.
 *
 * IPv4 has four numbers from 0 to 255 without leading zeros. IPv6 has groups of one to four hexadecimal digits, at most
 * one `::`, and perhaps an address of IPv4 in the last four bytes (RFC 4291). There are no zones, and no spaces.
 */
private[network] final class AddressText(text: UTF8String) {
  private val size = text.numBytes
  private val slash = find('/', 0, size)

  /** The halves of the address, or of the first address of the network. */
  var high, low = 0L

  /** The bits of the number that an address has in common with the others of its network: all, if there is no slash. */
  var prefix = 128

  /** Whether it is an address, without a network. */
  def isAddress: Boolean = slash == size && read(size)

  /** Whether it is an address or a network. Bits behind the prefix may be set. */
  def isNetwork: Boolean = read(slash) && (slash == size || readPrefix())

  private def find(letter: Char, from: Int, until: Int): Int = {
    var i = from
    while (i < until && text.getByte(i) != letter) i += 1
    i
  }

  private def read(end: Int): Boolean = {
    high = 0L
    low = 0L
    if (find(':', 0, end) < end) readGroups(end)
    else {
      val number = four(0, end)
      low = 0xffff00000000L | number
      number >= 0
    }
  }

  private def readPrefix(): Boolean = {
    val isFour = find(':', 0, slash) == slash
    val bits = decimal(slash + 1, size, if (isFour) 32 else 128)
    prefix = if (isFour) 96 + bits else bits
    bits >= 0
  }

  /** An address of IPv4 as a number, or -1. */
  private def four(from: Int, until: Int): Long = {
    var number = 0L
    var start = from
    var parts = 0
    while (parts < 4 && number >= 0) {
      val end = if (parts == 3) until else find('.', start, until)
      val part = decimal(start, end, 255)
      number = if (part < 0) -1L else (number << 8) | part
      start = end + 1
      parts += 1
    }
    number
  }

  /** A number without leading zeros, which is not above the most; -1 if it is none. */
  private def decimal(from: Int, until: Int, most: Int): Int = {
    val digits = until - from
    if (digits < 1 || digits > 3 || digits > 1 && text.getByte(from) == '0') -1
    else {
      var number = 0
      var i = from
      while (i < until && number >= 0) {
        val digit = text.getByte(i) - '0'
        number = if (digit < 0 || digit > 9) -1 else number * 10 + digit
        i += 1
      }
      if (number > most) -1 else number
    }
  }

  private def readGroups(end: Int): Boolean = {
    // Groups ahead of the gap, and the number of groups in all.
    var (gap, groups) = (-1, 0)
    var start = 0
    if (end >= 2 && text.getByte(0) == ':') {
      if (text.getByte(1) != ':') return false
      gap = 0
      start = 2
    }
    while (start < end) {
      val colon = find(':', start, end)
      if (colon == end && find('.', start, end) < end) {
        val number = four(start, end)
        if (number < 0 || groups > 6) return false
        push((number >>> 16).toInt)
        push((number & 0xffff).toInt)
        groups += 2
      } else {
        val group = hexadecimal(start, colon)
        if (group < 0 || groups == 8) return false
        push(group)
        groups += 1
      }
      start = colon + 1
      if (colon < end && (start == end || text.getByte(start) == ':')) {
        // A colon at the end, or a second gap.
        if (start == end || gap >= 0) return false
        gap = groups
        start += 1
      }
    }
    if (gap < 0) groups == 8 else groups < 8 && { widen(gap, groups); true }
  }

  private def push(group: Int): Unit = {
    high = (high << 16) | (low >>> 48)
    low = (low << 16) | group
  }

  /** Moves the groups ahead of the gap to the front. */
  private def widen(gap: Int, groups: Int): Unit = {
    val all = (0 until 8).map(i => group(i))
    val (ahead, behind) = all.drop(8 - groups).splitAt(gap)
    high = 0L
    low = 0L
    (ahead ++ Seq.fill(8 - groups)(0) ++ behind).foreach(push)
  }

  /** The group at a place of eight. */
  private def group(i: Int): Int = {
    val half = if (i < 4) high else low
    ((half >>> (48 - 16 * (i % 4))) & 0xffff).toInt
  }

  private def hexadecimal(from: Int, until: Int): Int =
    if (until - from < 1 || until - from > 4) -1
    else {
      var number = 0
      var i = from
      while (i < until && number >= 0) {
        val digit = Character.digit(text.getByte(i).toChar, 16)
        number = if (digit < 0) -1 else (number << 4) | digit
        i += 1
      }
      number
    }
}
