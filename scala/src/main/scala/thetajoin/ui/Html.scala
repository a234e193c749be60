package thetajoin.ui

import scala.xml.{Attribute, Elem, MetaData, Node, Null, Text, TopScope}

/** Elements of a page. Texts and attributes are escaped when it is written. */
private[ui] object Html {
  def element(name: String, attributes: (String, String)*)(children: Node*): Elem = {
    val all = attributes.foldRight(Null: MetaData) { case ((key, value), rest) =>
      Attribute(None, key, Text(value), rest)
    }
    Elem(null, name, all, TopScope, minimizeEmpty = false, children: _*)
  }
}
