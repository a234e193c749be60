package thetajoin.accelerator

import java.util.ServiceConfigurationError

import thetajoin.Settings
import thetajoin.contract.{Accelerator, Contract}

/** An accelerator of another jar that can't be used. */
final class InvalidAcceleratorException private (
    what: String,
    why: String,
    remedy: String,
    cause: Throwable
) extends IllegalArgumentException(
      s"[INVALID_ACCELERATOR] An accelerator can't be used: $what: $why. $remedy",
      cause
    )

private[accelerator] object InvalidAcceleratorException {

  /** A class that [[Settings.Accelerators]] names. */
  def ofName(name: String, why: String, cause: Throwable): InvalidAcceleratorException =
    new InvalidAcceleratorException(
      name,
      why,
      s"Add its jar to spark.jars, check the name in ${Settings.Accelerators.key}, and give it a constructor " +
        "without arguments.",
      cause
    )

  def ofService(cause: ServiceConfigurationError): InvalidAcceleratorException =
    new InvalidAcceleratorException(
      "a Java service",
      Option(cause.getCause).fold(cause.getMessage)(c => s"${cause.getMessage}: $c"),
      s"Mend META-INF/services/${classOf[Accelerator].getName} in its jar, or leave the jar out.",
      cause
    )

  /** An accelerator that tells the version of the contract that it was compiled against. */
  def ofContract(name: String, version: Int): InvalidAcceleratorException =
    new InvalidAcceleratorException(
      name,
      s"it was compiled against version $version of thetajoin's contract, and this is version ${Contract.Version}",
      CompileAgain,
      null
    )

  /** An accelerator that uses, or lacks, what is only in another version. */
  def ofLinkage(name: String, cause: LinkageError): InvalidAcceleratorException =
    new InvalidAcceleratorException(
      name,
      s"it was compiled against another version of thetajoin or Spark, or lacks a class: $cause",
      CompileAgain,
      cause
    )

  private val CompileAgain =
    "Compile it against the thetajoin-api of this version, or use a version of both that fit together. Until then " +
      "leave its jar out, or SET spark.thetajoin.enabled=false."
}
