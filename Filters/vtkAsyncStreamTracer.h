// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncStreamTracer
 * @brief   Streamlines of a distributed steady vector field, independent of the number of ranks
 *
 * vtkAsyncStreamTracer integrates a steady vector field from every point of a second input, along
 * the flow, against it, or in both directions. It corresponds to vtkStreamTracer and to its
 * distributed version vtkPStreamTracer; properties with the same meaning have the same names.
 * Unlike these, it processes the data of all ranks as one domain, and its lines are the same on any
 * number of ranks.
 *
 * **Input.** Port 0: any vtkDataSet, or any composite of them (multiblock, partitioned, AMR),
 * distributed over the ranks in any way. All blocks on all ranks form one domain: a line that
 * leaves a block continues in the next one. SetInputArrayToProcess(0, ...) selects the vectors: an
 * array with three components, which must have the same name in all blocks. Point data are
 * interpolated in each cell; cell data are constant in each cell. The default is the active vectors
 * of the points or, if there are none, of the cells. The filter ignores blocks without the vectors,
 * blocks of lower dimension than the highest dimension of all blocks, and AMR cells that a finer
 * level covers. Ranks may be empty. Ghost cells are neither required nor requested. If the input
 * has ghost cells, they reduce the number of messages.
 *
 * Port 1: the seeds, which are the points of a vtkDataSet or of a composite. Each rank provides its
 * own part. A source that is identical on all ranks must provide its points on one rank only; VTK's
 * sources do so when a piece is requested.
 *
 * Port 2, optional: a surface of poly data, or a composite of it, distributed in any way, for
 * events; see AddEvent(). Its polygons and strips are triangulated, and ghost cells are left out.
 * Each rank holds all triangles, in about 150 bytes each.
 *
 * **Output.** One polyline for each seed and direction with at least one step, ordered by seed,
 * forward before backward. With N seeds on P ranks, rank r has the lines of the seeds r * N / P to
 * (r + 1) * N / P - 1. Points are of type float; a seed beyond its range has no line.
 * - Point data: the point arrays of the input, interpolated; values are NaN (0 for integers) where
 *   a block lacks an array that other blocks have. The vectors, also if they are cell data.
 *   IntegrationTime (double), the time since the seed, which is negative in the backward direction.
 *   With ComputeVorticity, also Vorticity (double, 3 components), Rotation (double, radians),
 *   AngularVelocity (double), and Normals (double, 3 components; the active vectors). Each of these
 *   replaces an array of the input with the same name. Arrays of the input that do not have one
 *   tuple for each point are omitted.
 * - Cell data: ReasonForTermination (int, see the enumeration) and SeedIds (int, as in
 *   vtkStreamTracer, or vtkIdType if the largest id of all ranks requires it). The ids are the
 *   global point ids of the seeds if the source has them. Otherwise, they are point numbers in the
 *   whole extent for a structured source; for other sources, points are numbered rank by rank. With
 *   events, also EventId (int), the event that ended the line, or -1. With a surface, also TargetId
 *   (vtkIdType): the label of the triangle at which the line ended, or -1.
 * - Field data: the field data of the input, and statistics (see vtkAsyncAlgorithm). The statistics
 *   of this filter are ReusedDomain (1 if the domain of the previous execution was reused),
 *   ReusedMesh (1 if the search structures of cells were reused), DomainBytes (the memory
 *   of the domain beyond the input), Seeds, RejectedSeeds, Lines, LinePoints, PointsRecorded,
 *   PeriodX, PeriodY and PeriodZ (of the axes that Periodic selects), Blocks and Handovers, with
 *   events Crossings, with a surface ReusedSurface (1 if that of the previous execution was
 *   reused), SurfaceTriangles and SurfaceBytes (of each rank), those of AutoTune, and, unless
 *   LendingMemory is 0, those of lending: BlocksNotLent (blocks that cannot be copied), Loans,
 *   LentLines, LentBlocks and LentBytes (copies that this rank sent), LentMemory (the most that
 *   copies were allowed to use here), and LendingGainSeconds (an estimate of the time saved). With
 *   ReportRejectedSeeds, also RejectedSeedIds.
 *
 * Port 1, Crossings: one vertex for each crossing of an event (see AddEvent()) by a line, ordered
 * by seed, forward before backward, then along the line. With JoinDirections, both halves still
 * count from the seed. Points are of type double. Point data: those of lines without Rotation and
 * Normals, ArcLength (double, from the seed), EventId (int), CrossingNumber (int, from 1 for each
 * event and each direction from a seed), and SeedIds. CrossingArrays leaves arrays out. Without
 * events, there are no points. With a surface, also TargetId (vtkIdType): the value of
 * SurfaceLabelArray or, without an array, the number of the block of the surface: blocks are
 * counted from 1, in order, nested ones included and pieces not; 0 if there are none. It is -1 for
 * other events.
 *
 * Port 2, Destinations, vtkTable, complete on rank 0; on other ranks it has the columns alone. With
 * Destinations, one row for each direction, label of seeds (see SeedLabelArray) and destination
 * that occur together, in this order: Direction (int, 0 forward and 1 backward, from the seed),
 * From (double), the destination, Count of lines (vtkIdType), MeanTime and MeanLength of these
 * (double; times are positive in both directions). The destination is ReasonForTermination and
 * EventId (int), with a surface also TargetId (vtkIdType), or To (double), the label at the last
 * point. Seeds outside of the domain are
 * counted, with reason NOT_INITIALIZED or To NaN, and with time and length 0. NaN comes last. Sums
 * are exact, so the table has the same bits on any number of ranks.
 *
 * **Crossings.** A step that crosses an event is taken again in parts, by the same integrator,
 * until one ends at the crossing: its position is as accurate as the step. Lines have the same bits
 * with and without events, up to the crossing that ends them. A step crosses an event if its ends
 * are on different sides, so two crossings of one event within a step, and a line that only touches
 * it, are not found; smaller steps find them. A seed on the surface is no crossing. Several events
 * within a step are recorded in order, and one that ends the line hides those after it. If a part
 * of a step leaves the domain although the step does not, the crossing is recorded at the end of
 * the step. With Periodic, crossings of the images of lines in the bounding box count, and points
 * are in that box.
 *
 * A surface is crossed by the straight line between the ends of a step, by an exact test: at an
 * edge or a corner of triangles, or where steps meet, once. All crossings of a step are found, in
 * the order along this line, and so a closed surface is entered and left by turns. Each crossing is
 * then found where the step itself crosses the plane of the triangle, or of the triangle that is
 * closest there. Steps that are longer than the surface is wide may pass around it.
 *
 * **Bitwise reproducibility.** Points, point data and cell data do not depend on the number of
 * ranks, the decomposition of the input, ghost cells, BlocksPerRank, threads, the schedule,
 * lending, or the timing of messages. A line that crosses ranks transfers the complete state of its
 * integrator, also within a step. All ranks must run on processors of one kind. If the source has
 * neither global ids nor an extent, SeedIds follow the order of the ranks and so depend on the
 * decomposition of the source. This guarantee does not include field data.
 *
 * **Properties of vtkAsyncLineAlgorithm.** TerminalSpeed is 1e-12 by default. ComputeVorticity also
 * adds Normals, for example for ribbons. With KeepDomain, the next execution reuses all search
 * structures, and the cells that lines have visited, if neither the input nor the selected vectors
 * have changed on any rank: with other seeds or step sizes it begins to trace at once. If only
 * values have changed, and all ranks have the same cells and points as before, only velocities are
 * read again.
 *
 * **AutoTune** (see vtkAsyncExchangeAlgorithm) also tries four times BlocksPerRank and reports the
 * choice as TunedBlocksPerRank. All seeds are traced with the defaults, and the first steps of
 * their lines with the other settings. If one of these appears to be faster, all seeds are traced
 * with it and again with the defaults. The trials take about five times as long as tracing the
 * lines. The choice is kept until a property or the number of seeds changes; changes of the values
 * or the time of the input do not invalidate it. Nothing is tried with fewer than 100 seeds.
 * ExpectedSeconds is a prediction of TracingSeconds.
 *
 * **Collective**, see vtkAsyncAlgorithm. BlocksPerRank and KeepDomain may also differ between
 * ranks. Aborts are checked between batches of up to 2048 lines of a block.
 *
 * Processing of the points of one rank is parallel through vtkSMPTools.
 *
 * **Cell data vectors.** The velocity is constant in each cell, so its vorticity would be zero. For
 * the vorticity, the velocity is therefore averaged to the points, over the cells of all ranks, and
 * interpolated.
 *
 * **Not supported:** cells of dimension 0 or 1; hyper tree grids (those in composite data sets are
 * ignored with a warning); vectors that vary in time; the interpolator prototypes and custom
 * termination callbacks of vtkStreamTracer.
 *
 * @sa
 * vtkAsyncAlgorithm vtkStreamTracer vtkPStreamTracer vtkRibbonFilter
 */

#ifndef vtkAsyncStreamTracer_h
#define vtkAsyncStreamTracer_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncLineAlgorithm.h"

#include <memory>  // For State

class vtkTable;
namespace tributary {
struct StreamTracerSettings;
struct StreamTracerState;
}  // namespace tributary

class TRIBUTARYFILTERS_EXPORT vtkAsyncStreamTracer : public vtkAsyncLineAlgorithm {
 public:
  static vtkAsyncStreamTracer* New();
  vtkTypeMacro(vtkAsyncStreamTracer, vtkAsyncLineAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum Directions { FORWARD = 0, BACKWARD = 1, BOTH = 2 };

  /**
   * Values of ReasonForTermination. The values up to STAGNATION are those of vtkStreamTracer.
   */
  enum ReasonForTermination {
    OUT_OF_DOMAIN = 1,
    NOT_INITIALIZED = 2,   ///< The seed lies in no cell; the line is not output.
    UNEXPECTED_VALUE = 3,  ///< A velocity that is not finite.
    OUT_OF_LENGTH = 4,
    OUT_OF_STEPS = 5,
    STAGNATION = 6,  ///< The flow is too slow, or a step has length zero.
    OUT_OF_TIME = 7,
    EVENT = 8  ///< See AddEvent().
  };

  ///@{
  /**
   * Direction of integration: along the flow (FORWARD), against it (BACKWARD), or both (BOTH).
   * Default: BOTH.
   */
  vtkSetClampMacro(IntegrationDirection, int, FORWARD, BOTH);
  vtkGetMacro(IntegrationDirection, int);
  ///@}

  ///@{
  /**
   * With IntegrationDirection BOTH, whether to join the two halves of each line. The joined line
   * has the direction of the flow and contains the seed. Its ReasonForTermination is that of the
   * forward half, and Rotation is 0 at the seed. Default: false.
   */
  vtkSetMacro(JoinDirections, bool);
  vtkGetMacro(JoinDirections, bool);
  vtkBooleanMacro(JoinDirections, bool);
  ///@}

  ///@{
  /**
   * Maximum length of a line, in the length unit of the input. Must be greater than 0. Default: 1.
   */
  vtkSetMacro(MaximumPropagation, double);
  vtkGetMacro(MaximumPropagation, double);
  ///@}

  ///@{
  /**
   * Maximum integration time of a line, measured from its seed, in the unit of length divided by
   * the unit of the vectors. 0 means no limit. Default: 0.
   */
  vtkSetMacro(MaximumIntegrationTime, double);
  vtkGetMacro(MaximumIntegrationTime, double);
  ///@}

  ///@{
  /**
   * Whether lines stay on a surface: the component of the vectors along the normal of a cell is
   * left out, and each new point is projected onto the adjacent cell. If false, vectors that point
   * out of the surface end lines. The input must consist of 2D cells. Default: false.
   */
  vtkSetMacro(SurfaceStreamlines, bool);
  vtkGetMacro(SurfaceStreamlines, bool);
  vtkBooleanMacro(SurfaceStreamlines, bool);
  ///@}

  ///@{
  /**
   * Whether to add the field data array RejectedSeedIds: the ids of the seeds that lie in no cell,
   * in ascending order, complete on every rank. Their number is always part of the statistics.
   * Default: false.
   */
  vtkSetMacro(ReportRejectedSeeds, bool);
  vtkGetMacro(ReportRejectedSeeds, bool);
  vtkBooleanMacro(ReportRejectedSeeds, bool);
  ///@}

  /**
   * Values of CrossingArrays.
   */
  enum CrossingArraysOf { ALL_ARRAYS = 0, IDS_AND_TIMES = 1, NO_ARRAYS = 2 };

  ///@{
  /**
   * The arrays of crossings: all; IntegrationTime, ArcLength, EventId, CrossingNumber and SeedIds;
   * or none. Without arrays, the points of a line and direction are one poly vertex, with SeedIds
   * as cell data, and of type float: the output takes 16 bytes for each crossing. Default:
   * ALL_ARRAYS.
   */
  vtkSetClampMacro(CrossingArrays, int, ALL_ARRAYS, NO_ARRAYS);
  vtkGetMacro(CrossingArrays, int);
  ///@}

  /**
   * Values of Destinations.
   */
  enum DestinationsBy { NO_DESTINATIONS = 0, REASON_AND_EVENT = 1, LABEL_ARRAY = 2 };

  ///@{
  /**
   * How the table of destinations classifies the ends of lines: see output 2 above. Default:
   * NO_DESTINATIONS, no table.
   */
  vtkSetClampMacro(Destinations, int, NO_DESTINATIONS, LABEL_ARRAY);
  vtkGetMacro(Destinations, int);
  ///@}

  ///@{
  /**
   * The name of a point array of the source with the labels of seeds, one component; the label of a
   * block without it is NaN. Default: empty, all seeds have the label 0.
   */
  void SetSeedLabelArray(const char* name);
  const char* GetSeedLabelArray() const { return this->SeedLabelArray.c_str(); }
  ///@}

  ///@{
  /**
   * With LABEL_ARRAY, the name of a cell or point array of the input, one component, whose value at
   * the last point of a line is its destination: that of the cell; or of the point of the cell with
   * the largest weight, and of equal weights the lowest value. If it is in both, cell data are
   * used. The label of a block without it is NaN. Default: empty.
   */
  void SetEndLabelArray(const char* name);
  const char* GetEndLabelArray() const { return this->EndLabelArray.c_str(); }
  ///@}

  /**
   * The table of destinations.
   */
  vtkTable* GetDestinationTable();

 protected:
  vtkAsyncStreamTracer();
  ~vtkAsyncStreamTracer() override;

  int FillOutputPortInformation(int port, vtkInformation* info) override;
  void CheckProperties() override;
  void DescribeProperties(tributary::PropertyList& list) override;
  bool Execute(tributary::Transport& transport, vtkInformationVector** inputVector,
               vtkInformationVector* outputVector, tributary::RunStatistics& statistics) override;
  void ForgetExecution() override;
  const char* Failure() const override { return "No streamlines"; }

  int IntegrationDirection = BOTH;
  bool JoinDirections = false;
  double MaximumPropagation = 1.0;
  double MaximumIntegrationTime = 0.0;
  bool SurfaceStreamlines = false;
  bool ReportRejectedSeeds = false;
  int CrossingArrays = ALL_ARRAYS;
  int Destinations = NO_DESTINATIONS;
  std::string SeedLabelArray;
  std::string EndLabelArray;

 private:
  vtkAsyncStreamTracer(const vtkAsyncStreamTracer&) = delete;
  void operator=(const vtkAsyncStreamTracer&) = delete;

  tributary::StreamTracerSettings MakeSettings();
  void SetText(std::string& property, const char* text);

  std::unique_ptr<tributary::StreamTracerState> State;
};

#endif
