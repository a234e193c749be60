package thetajoin.functions.network

import org.apache.spark.sql.catalyst.expressions.{
  And,
  Expression,
  GreaterThanOrEqual,
  LessThanOrEqual
}

import thetajoin.functions.SqlFunction.{Description, description}

/**
 * The functions of addresses that SQL gets. A network is a range of addresses, so that `cidr_contains` is a range join.
 */
object NetworkFunctions {
  def descriptions: Seq[Description] = Seq(false, true).flatMap { isTry =>
    val prefix = if (isTry) "try_" else ""
    val otherwise = if (isTry) " NULL if a text can't be read." else ""
    def part(text: Expression, part: AddressPart): Expression =
      if (isTry) TryAddressOf(text, part) else AddressOf(text, part)
    Seq(
      description[AddressOf](
        s"${prefix}ip_to_number",
        "ip",
        s"An address of IPv4 as a BIGINT from 0 to 4294967295.$otherwise"
      ) { case Seq(ip) => part(ip, AddressPart.Number) },
      description[AddressOf](
        s"${prefix}cidr_contains",
        "cidr, ip",
        s"Whether an address is in a network, both of IPv4 or IPv6.$otherwise"
      ) { case Seq(cidr, ip) =>
        And(
          GreaterThanOrEqual(part(ip, AddressPart.Address), part(cidr, AddressPart.First)),
          LessThanOrEqual(part(ip, AddressPart.Address), part(cidr, AddressPart.Last))
        )
      }
    )
  }
}
