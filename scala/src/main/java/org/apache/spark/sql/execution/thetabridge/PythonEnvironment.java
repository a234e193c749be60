package org.apache.spark.sql.execution.thetabridge;

import java.io.Serializable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import scala.Option;
import scala.collection.Iterator;

import org.apache.spark.JobArtifactSet;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.python.PythonFunction;
import org.apache.spark.api.python.PythonRunner;
import org.apache.spark.api.python.SimplePythonFunction;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;

/**
 * What Spark needs to know to run a session's Python functions in a worker, taken from one of them. Spark keeps its
 * workers to itself, so this class lies in its package.
 *
 * @param artifacts the files that a Connect session has added; null if it has none
 */
public record PythonEnvironment(
    String executable,
    String version,
    Map<String, String> variables,
    List<String> includes,
    String artifacts)
    implements Serializable {

  public static PythonEnvironment of(PythonUDF function) {
    PythonFunction python = function.func();
    Option<String> artifacts =
        JobArtifactSet.getCurrentJobArtifactState().map(state -> state.uuid());
    return new PythonEnvironment(
        python.pythonExec(),
        python.pythonVer(),
        Map.copyOf(python.envVars()),
        List.copyOf(python.pythonIncludes()),
        artifacts.isEmpty() ? null : artifacts.get());
  }

  /**
   * Sends byte strings to a worker, and gives the byte strings that it answers.
   *
   * @param command a pickled function from an iterator to an iterator, with what reads and writes its byte strings
   */
  public Iterator<byte[]> call(byte[] command, Iterator<byte[]> sent, TaskContext task) {
    // Spark adds variables of its own.
    PythonFunction function =
        new SimplePythonFunction(
            command, new HashMap<>(variables), includes, executable, version, List.of(), null);
    return PythonRunner.apply(function, Option.apply(artifacts))
        .compute(sent, task.partitionId(), task);
  }

  /** A directory of this process that Spark deletes at its end. */
  public static String localDirectory() {
    return SparkEnv.get().blockManager().diskBlockManager().localDirs()[0].getPath();
  }
}
