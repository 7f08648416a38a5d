// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncConnectivity
 * @brief   Connected components of a distributed data set, independent of the number of ranks
 *
 * vtkAsyncConnectivity finds the regions of connected cells of a data set, or of its cells in a
 * scalar range. It numbers the regions and computes their size, position and statistics. It
 * corresponds to vtkConnectivityFilter and vtkPConnectivityFilter; properties with the same meaning
 * have the same names. Unlike these, it does not change the input, it processes the data of all
 * ranks as one domain, and ranks do not wait for each other. It uses distributed union-find: D.
 * Morozov, T. Peterka, H. Guo, M. Raj, J. Xu, H.-W. Shen, "IExchange: Asynchronous Communication
 * and Termination Detection for Iterative Algorithms", LDAV 2021, doi:10.1109/LDAV53230.2021.00009,
 * Section 4.2, Algorithm 8.
 *
 * **Input.** Any vtkDataSet, or any composite of them (multiblock, partitioned, AMR), distributed
 * over the ranks in any way. All blocks on all ranks form one domain. Cells are connected if they
 * share a point (or an edge, or a face: see ConnectThrough). Points of different data sets, and
 * points of one data set, are identified by the first of these rules that applies:
 * - If all data sets are pieces of one extent or of one AMR hierarchy, by their position in it.
 *   Data sets are pieces of one extent if they are images of one lattice, or if they form one data
 *   set that is not composite and whose points are the same wherever their indices are the same.
 * - If the input is not composite and has global point ids, by these ids. This supports cracks,
 *   whose two sides must remain separate.
 * - Otherwise, by coordinates: they must be equal, or not further apart than Tolerance allows.
 *
 * The input may also be a vtkHyperTreeGrid, or a composite of hyper tree grids only, whose trees
 * are distributed over the ranks in any way. All grids must have the same root cells. Except for
 * ghosts, a tree must be on one rank and in one block. The cells are the leaves (up to the
 * DepthLimiter of the grid) that are neither masked nor in a masked cell. Leaves of any levels are
 * neighbors if they touch. Material interfaces do not divide leaves. Hyper tree grids have cell
 * arrays only: point scalars and POINT_SEEDED are errors.
 *
 * Hidden cells and AMR cells that a finer level covers are ignored. Ghost cells are not required; a
 * request for ghost cells of the output is passed to the input. Ghost cells of the input must be
 * copies of cells of the input. They get the region of their originals and do not contribute to
 * counts and measures. Ranks may be empty.
 *
 * **Output 0.** The input with the array RegionId (vtkIdType) in its cell data and point data. The
 * value of a cell is the number of its region, or -1 if the cell is out of range or its region is
 * not selected. The value of a point is the minimum RegionId of the cells that use it, on all
 * ranks. With several ranges, the arrays of the second and further ranges are named RegionId_1,
 * RegionId_2, and so on. RegionId of cells are the active scalars. With ExtractRegions, the output
 * contains the cells of the selected regions only, as vtkUnstructuredGrid, or as vtkPolyData for
 * poly data. For a hyper tree grid, the output has the same trees, and all other leaves are masked,
 * as in vtkHyperTreeGridThreshold. In a hyper tree grid, cells that are divided or masked have the
 * value -1. So do ghosts that are not copies of leaves; vtkHyperTreeGridGhostCellsGenerator
 * produces such ghosts for trees that a rank does not need completely. Field data: the field data
 * of the input; NumberOfRegions, the number of all regions, one tuple for each range; and
 * statistics (see vtkAsyncAlgorithm).
 *
 * **Output 1.** A distributed vtkTable of the selected regions: with N regions on P ranks, the rows
 * of rank r begin with region N r / P. The columns, in the order of their names, are
 * - RegionId.
 * - Range, with several ranges only.
 * - Cells and Points, the numbers of cells and points; for hyper trees, points are the corners of
 *   leaves.
 * - Measure, the sum of the lengths, areas and volumes of the cells.
 * - CentroidX, CentroidY and CentroidZ, the mean of the centroids of the cells weighted by measure.
 *   If the region has no measure but other regions have one, it is the center of the bounds.
 * - BoundsMinX to BoundsMaxZ, the bounds.
 * - WrapsX, WrapsY and WrapsZ, with Periodic only: 1 if the cells of the region reach both sides of
 * the domain and leave no part between them free. A gap beyond the last column does not count. Its
 * bounds are then those of a whole period, and its centroid is the center. For all other regions
 * that reach both sides of the domain, the widest free part, or the lowest of equal ones, is
 * between their bounds: the lower one is in the domain, the upper one beyond the upper side. Their
 * centroid is that of the cells between these bounds, moved into the domain.
 * - For each array A of StatisticsArrays (A_0, A_1, and so on if it has several components): "A
 *   Minimum"; "A Maximum"; "A Integral", the sum over the cells of measure times value, where the
 *   value of a point array is the mean over the points of the cell; and "A Mean", the integral
 *   divided by the measure. These are NaN if the array has values in the region that are not
 *   finite.
 *
 * **Bitwise reproducibility.** Both outputs, as sets of cells, points and rows, do not depend on
 * the number of ranks, the decomposition of the input, ghost cells, threads, Method, the schedule,
 * or the timing of messages; sums are exact in fixed point. This guarantee does not include
 * statistics. By default, regions are numbered by their first cell. Cells are ordered by global
 * cell id if the input has global cell ids and is not composite. Otherwise, they are ordered by
 * position in the extent if all data sets are pieces of one extent. Otherwise, they are ordered by
 * their least point in the order of x, y, z; for hyper trees, by position in the lattice in that
 * order. Alternatively, regions are numbered by their number of cells and then by first cell, see
 * RegionIdAssignmentMode. No rank stores a table of all regions.
 *
 * **Collective**, see vtkAsyncAlgorithm. Aborts are checked before and during the union of the sets
 * of all ranks, but not while a rank processes its own cells.
 *
 * Labeling of the cells of one rank is parallel through vtkSMPTools.
 *
 * **Not supported:** hyper tree grids together with other data sets. vtkUniformHyperTreeGrid is not
 * supported in ParaView 5.11: ParaView queries the size of each data set, and
 * vtkUniformHyperTreeGrid::GetActualMemorySizeBytes() of that version recurses infinitely. It is
 * supported outside of ParaView.
 *
 * @sa
 * vtkAsyncAlgorithm vtkConnectivityFilter vtkPConnectivityFilter
 */

#ifndef vtkAsyncConnectivity_h
#define vtkAsyncConnectivity_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncRegionAlgorithm.h"

#include <string>  // For StatisticsArrays
#include <vector>  // For SeedIds

class vtkTable;

class TRIBUTARYFILTERS_EXPORT vtkAsyncConnectivity : public vtkAsyncRegionAlgorithm {
 public:
  static vtkAsyncConnectivity* New();
  vtkTypeMacro(vtkAsyncConnectivity, vtkAsyncRegionAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * Values of ExtractionMode. The values up to CLOSEST_POINT are those of vtkConnectivityFilter.
   */
  enum ExtractionModes {
    POINT_SEEDED = 1,   ///< Regions with a cell that uses a point of the seed list.
    CELL_SEEDED = 2,    ///< Regions with a cell of the seed list.
    SPECIFIED = 3,      ///< Regions of the list of specified regions.
    LARGEST = 4,        ///< The region with the most cells; ties go to the first cell.
    ALL = 5,            ///< All regions.
    CLOSEST_POINT = 6,  ///< The region of the point nearest to ClosestPoint; ties go to the first.
    SIZE_RANGE = 7      ///< Regions with a number of cells in SizeRange.
  };

  enum RegionIdAssignmentModes {
    UNSPECIFIED = 0,  ///< By first cell.
    CELL_COUNT_DESCENDING = 1,
    CELL_COUNT_ASCENDING = 2
  };

  ///@{
  /**
   * Selection of regions. The ids of seeds are global ids if the input has them. Otherwise, they
   * are positions in the whole extent. If there is no such extent, points or cells are numbered
   * rank by rank; for hyper trees, this includes divided cells. Default: ALL.
   */
  vtkSetClampMacro(ExtractionMode, int, POINT_SEEDED, SIZE_RANGE);
  vtkGetMacro(ExtractionMode, int);
  ///@}

  ///@{
  /**
   * Whether to add the RegionId arrays. Default: true.
   */
  vtkSetMacro(ColorRegions, bool);
  vtkGetMacro(ColorRegions, bool);
  vtkBooleanMacro(ColorRegions, bool);
  ///@}

  ///@{
  /**
   * Numbering of regions. Default: UNSPECIFIED.
   */
  vtkSetClampMacro(RegionIdAssignmentMode, int, UNSPECIFIED, CELL_COUNT_ASCENDING);
  vtkGetMacro(RegionIdAssignmentMode, int);
  ///@}

  ///@{
  /**
   * Seed list: the points or cells that select regions in the modes POINT_SEEDED and CELL_SEEDED.
   * Each must exist on at least one rank. Default: empty.
   */
  void AddSeed(vtkIdType id);
  void DeleteSeed(vtkIdType id);
  void InitializeSeedList();
  int GetNumberOfSeeds() const { return static_cast<int>(this->SeedIds.size()); }
  /// Returns -1 if the index is out of range.
  vtkIdType GetSeed(int index) const {
    return index >= 0 && index < this->GetNumberOfSeeds() ? this->SeedIds[std::size_t(index)] : -1;
  }
  ///@}

  ///@{
  /**
   * List of specified regions, used by the mode SPECIFIED. Each must exist; with several ranges, it
   * must exist in each of them. Default: empty.
   */
  void AddSpecifiedRegion(vtkIdType id);
  void DeleteSpecifiedRegion(vtkIdType id);
  void InitializeSpecifiedRegionList();
  int GetNumberOfSpecifiedRegions() const {
    return static_cast<int>(this->SpecifiedRegionIds.size());
  }
  /// Returns -1 if the index is out of range.
  vtkIdType GetSpecifiedRegion(int index) const {
    return index >= 0 && index < this->GetNumberOfSpecifiedRegions()
               ? this->SpecifiedRegionIds[std::size_t(index)]
               : -1;
  }
  ///@}

  ///@{
  /**
   * Position used by the mode CLOSEST_POINT. Default: (0, 0, 0).
   */
  vtkSetVector3Macro(ClosestPoint, double);
  vtkGetVector3Macro(ClosestPoint, double);
  ///@}

  ///@{
  /**
   * Minimum and maximum number of cells for the mode SIZE_RANGE. A maximum of 0 means no limit.
   * Default: (1, 0).
   */
  vtkSetVector2Macro(SizeRange, vtkIdType);
  vtkGetVector2Macro(SizeRange, vtkIdType);
  ///@}

  ///@{
  /**
   * Names of the arrays for which the table contains minimum, maximum, mean and integral. The cell
   * array of a name is used if it exists, otherwise the point array. All data sets must have the
   * arrays. Default: empty.
   */
  void AddStatisticsArray(const char* name);
  void ClearStatisticsArrays();
  int GetNumberOfStatisticsArrays() const {
    return static_cast<int>(this->StatisticsArrays.size());
  }
  /// Returns null if the index is out of range.
  const char* GetStatisticsArray(int index) const {
    return index >= 0 && index < this->GetNumberOfStatisticsArrays()
               ? this->StatisticsArrays[std::size_t(index)].c_str()
               : nullptr;
  }
  ///@}

  /**
   * The region table of this rank, owned by the filter. Each update replaces it. Null before the
   * first update.
   */
  vtkTable* GetRegionTable();

 protected:
  vtkAsyncConnectivity();
  ~vtkAsyncConnectivity() override;

  bool CanProcess(vtkDataObject* input) override;
  int FillOutputPortInformation(int port, vtkInformation* info) override;
  void CheckProperties() override;
  void DescribeProperties(tributary::PropertyList& list) override;
  bool Execute(tributary::Transport& transport, vtkInformationVector** inputVector,
               vtkInformationVector* outputVector, tributary::RunStatistics& statistics) override;
  const char* Failure() const override { return "No regions"; }

  int ExtractionMode = ALL;
  bool ColorRegions = true;
  int RegionIdAssignmentMode = UNSPECIFIED;
  std::vector<vtkIdType> SeedIds;
  std::vector<vtkIdType> SpecifiedRegionIds;
  double ClosestPoint[3] = {0, 0, 0};
  vtkIdType SizeRange[2] = {1, 0};
  std::vector<std::string> StatisticsArrays;

 private:
  vtkAsyncConnectivity(const vtkAsyncConnectivity&) = delete;
  void operator=(const vtkAsyncConnectivity&) = delete;
};

#endif
