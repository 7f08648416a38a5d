// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncConnectivity
 * @brief   Connected components of any distributed data set, the same on any number of ranks
 *
 * vtkAsyncConnectivity finds the regions of connected cells of a data set, or of its cells in a
 * scalar range, numbers them and measures them. It corresponds to vtkConnectivityFilter and
 * vtkPConnectivityFilter; properties with the same meaning have the same names. Unlike these, it
 * does not change the input, it processes the data of all ranks as one domain, and ranks do not
 * wait for each other. It uses distributed union-find: D. Morozov, T. Peterka, H. Guo, M. Raj, J.
 * Xu, H.-W. Shen, "IExchange: Asynchronous Communication and Termination Detection for Iterative
 * Algorithms", LDAV 2021, doi:10.1109/LDAV53230.2021.00009, Section 4.2, Algorithm 8.
 *
 * **Input.** Any vtkDataSet, or any composite of them (multiblock, partitioned, AMR), distributed
 * over the ranks in any way. All its blocks on all ranks are one domain. Cells are connected if
 * they share a point (or an edge, or a face: see ConnectThrough). Points of different data sets are
 * the same, and so are points of one data set, if
 * - all data sets are pieces of one extent (images of one lattice, or one data set that is not
 *   composite and has the same points wherever it has the same indices) or of one AMR hierarchy: by
 * their place in it; else
 * - the input is not composite and has global point ids: by those (for cracks, whose two sides must
 *   not join); else
 * - their coordinates are exactly the same, or not further apart than Tolerance allows.
 *
 * Or a vtkHyperTreeGrid, or a composite of hyper tree grids only, whose trees are distributed over
 * the ranks in any way. All grids must have the same root cells. Except for ghosts, a tree must be
 * on one rank and in one block. Cells are the leaves (up to the DepthLimiter of the grid) that are
 * neither masked nor in a masked cell. Leaves of any levels are neighbors if they touch. Material
 * interfaces do not divide them. Hyper tree grids have arrays of cells only: scalars of points and
 * POINT_SEEDED are errors.
 *
 * Hidden cells and AMR cells that a finer level covers are ignored. Ghost cells are not required; a
 * request for ghost cells of the output is passed to the input. Ghost cells of the input must be
 * copies of cells of the input. They get the region of their originals and do not count. Ranks may
 * be empty.
 *
 * **Output 0.** The input with the array RegionId (vtkIdType) on cells and points: the number of
 * the cell's region; -1 out of range and in regions that are not selected. At a point: the least of
 * the RegionIds of its cells, on whichever rank they are. With several ranges the arrays of the
 * second and further ones are called RegionId_1, RegionId_2 ... With ExtractRegions: the cells of
 * the selected regions only, as vtkUnstructuredGrid, or vtkPolyData for poly data; of a hyper tree
 * grid the same trees with all other leaves masked, as vtkHyperTreeGridThreshold gives them. In a
 * hyper tree grid cells that are divided or masked have -1, and so have ghosts that are no copies
 * of leaves (vtkHyperTreeGridGhostCellsGenerator makes such of trees that a rank does not need in
 * full). Field data: that of the input, NumberOfRegions (of all, one tuple per range) and
 * statistics (see vtkAsyncAlgorithm).
 *
 * **Output 1.** A vtkTable of the selected regions, distributed: of N regions rank r of P has those
 * from N r / P on. Columns: RegionId, Range (with several ranges), Cells, Points (of hyper trees
 * the corners of leaves), Measure (the sum of its cells' lengths, areas and volumes), Centroid (the
 * cells' centroids weighted by measure; the middle of the bounds if the region has no measure but
 * others have), Bounds; and for each of StatisticsArrays A (A_0, A_1 ... if it has components)
 * "A Minimum", "A Maximum", "A Integral" (a cell's measure times its value, or the mean of its
 * points' values, added up) and "A Mean" (the integral over the measure); NaN where the array has
 * values that are not finite in the region.
 *
 * **The same bits.** Both outputs, as sets of cells, points and rows, do not depend on the number
 * of ranks, on how the input is cut, on ghost cells, on threads, on Method, on the schedule or on
 * the timing of messages; sums are exact in fixed point. Statistics are outside this promise.
 * Regions are numbered by their first cell: by least global cell id if there are such (and the
 * input is not composite), else by place in the extent that all data sets are pieces of, else by
 * the least point in the order of x, y, z (of hyper trees by place in the lattice in that order).
 * Or by their number of cells, then by first cell: see RegionIdAssignmentMode. No rank holds a
 * table of all regions.
 *
 * **Collective**, see vtkAsyncAlgorithm. Aborts are checked before and while the sets of the ranks
 * are united, but not while a rank processes its own cells.
 *
 * Labeling the cells of one rank is parallel through vtkSMPTools.
 *
 * **Not supported:** hyper tree grids together with other data sets. vtkUniformHyperTreeGrid works
 * outside of ParaView 5.11 only: ParaView queries the size of each data set, and there
 * vtkUniformHyperTreeGrid::GetActualMemorySizeBytes() recurses without end.
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
   * Up to CLOSEST_POINT those of vtkConnectivityFilter.
   */
  enum ExtractionModes {
    POINT_SEEDED = 1,  ///< Regions with a cell that has one of the points SeedIds.
    CELL_SEEDED = 2,   ///< Regions with one of the cells SeedIds.
    SPECIFIED = 3,     ///< SpecifiedRegionIds.
    LARGEST = 4,       ///< The region of most cells, of such the one with the first cell.
    ALL = 5,
    CLOSEST_POINT =
        6,          ///< The region with the point nearest to ClosestPoint, of several the first.
    SIZE_RANGE = 7  ///< Regions of as many cells as SizeRange allows.
  };

  enum RegionIdAssignmentModes {
    UNSPECIFIED = 0,  ///< By first cell.
    CELL_COUNT_DESCENDING = 1,
    CELL_COUNT_ASCENDING = 2
  };

  ///@{
  /**
   * Which regions are selected. The ids of seeds are global ids if the input has such, else places
   * in the whole extent, else cells (of hyper trees those that are divided too) or points are
   * counted rank by rank. Default: ALL.
   */
  vtkSetClampMacro(ExtractionMode, int, POINT_SEEDED, SIZE_RANGE);
  vtkGetMacro(ExtractionMode, int);
  ///@}

  ///@{
  /**
   * Whether to output the cells of the selected regions only, instead of the input as it is.
   * Default: false.
   */
  vtkSetMacro(ExtractRegions, bool);
  vtkGetMacro(ExtractRegions, bool);
  vtkBooleanMacro(ExtractRegions, bool);
  ///@}

  ///@{
  /**
   * Whether to add the arrays RegionId. Default: true.
   */
  vtkSetMacro(ColorRegions, bool);
  vtkGetMacro(ColorRegions, bool);
  vtkBooleanMacro(ColorRegions, bool);
  ///@}

  ///@{
  /**
   * How regions are numbered. Default: UNSPECIFIED.
   */
  vtkSetClampMacro(RegionIdAssignmentMode, int, UNSPECIFIED, CELL_COUNT_ASCENDING);
  vtkGetMacro(RegionIdAssignmentMode, int);
  ///@}

  ///@{
  /**
   * Points or cells that select regions, with the modes POINT_SEEDED and CELL_SEEDED. Each must
   * exist on some rank. Default: none.
   */
  void AddSeed(vtkIdType id);
  void DeleteSeed(vtkIdType id);
  void InitializeSeedList();
  int GetNumberOfSeeds() const { return static_cast<int>(this->SeedIds.size()); }
  /// -1 if there is none.
  vtkIdType GetSeed(int index) const {
    return index >= 0 && index < this->GetNumberOfSeeds() ? this->SeedIds[std::size_t(index)] : -1;
  }
  ///@}

  ///@{
  /**
   * The regions of the mode SPECIFIED; each must exist, in every range if there are several.
   * Default: none.
   */
  void AddSpecifiedRegion(vtkIdType id);
  void DeleteSpecifiedRegion(vtkIdType id);
  void InitializeSpecifiedRegionList();
  int GetNumberOfSpecifiedRegions() const {
    return static_cast<int>(this->SpecifiedRegionIds.size());
  }
  /// -1 if there is none.
  vtkIdType GetSpecifiedRegion(int index) const {
    return index >= 0 && index < this->GetNumberOfSpecifiedRegions()
               ? this->SpecifiedRegionIds[std::size_t(index)]
               : -1;
  }
  ///@}

  ///@{
  /**
   * The place used by the mode CLOSEST_POINT. Default: (0, 0, 0).
   */
  vtkSetVector3Macro(ClosestPoint, double);
  vtkGetVector3Macro(ClosestPoint, double);
  ///@}

  ///@{
  /**
   * The least and the greatest number of cells for the mode SIZE_RANGE. If the greatest is 0, there
   * is no limit. Default: (1, 0).
   */
  vtkSetVector2Macro(SizeRange, vtkIdType);
  vtkGetVector2Macro(SizeRange, vtkIdType);
  ///@}

  ///@{
  /**
   * Names of the arrays whose minimum, maximum, mean and integral the table has: arrays of cells,
   * or else of points. All data sets must have them. Default: none.
   */
  void AddStatisticsArray(const char* name);
  void ClearStatisticsArrays();
  int GetNumberOfStatisticsArrays() const {
    return static_cast<int>(this->StatisticsArrays.size());
  }
  /// Null if there is none.
  const char* GetStatisticsArray(int index) const {
    return index >= 0 && index < this->GetNumberOfStatisticsArrays()
               ? this->StatisticsArrays[std::size_t(index)].c_str()
               : nullptr;
  }
  ///@}

  /**
   * The table of regions of this rank, owned by the filter. Each update replaces it; null before
   * the first.
   */
  vtkTable* GetRegionTable();

 protected:
  vtkAsyncConnectivity();
  ~vtkAsyncConnectivity() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int FillOutputPortInformation(int port, vtkInformation* info) override;
  std::string ClassOfOutput(int port, vtkDataObject* input) override;
  void CheckProperties() override;
  void DescribeProperties(tributary::PropertyList& list) override;
  bool Execute(tributary::Transport& transport, vtkInformationVector** inputVector,
               vtkInformationVector* outputVector, tributary::RunStatistics& statistics) override;
  const char* Failure() const override { return "No regions"; }

  int ExtractionMode = ALL;
  bool ExtractRegions = false;
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
