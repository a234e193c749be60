package thetajoin.accelerator.vector;

import java.util.function.Supplier;

/** The quickest {@link Products} of this JVM. Spark's launcher adds the module of the JDK that they take. */
final class FastestProducts {
  private static volatile boolean hasVectors =
      ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();

  private FastestProducts() {}

  static Products newProducts() {
    Products products = hasVectors ? linked(SimdProducts::new) : new LoopProducts();
    hasVectors = products instanceof SimdProducts;
    return products;
  }

  /** The module is not final: a JDK may have another one than the class was compiled with. Loops do without it. */
  static Products linked(Supplier<Products> simd) {
    try {
      return simd.get();
    } catch (LinkageError e) {
      return new LoopProducts();
    }
  }
}
