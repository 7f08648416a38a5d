/**
 * @class   vtkAsyncConnectivity
 * @brief   Connected components of any distributed data set, the same on any number of ranks
 *
 * vtkAsyncConnectivity finds the regions of connected cells of a data set, or of its cells in a
 * scalar range, numbers them and measures them. It does what vtkConnectivityFilter (and
 * vtkPConnectivityFilter, its distributed kin) does, with properties of the same names where they
 * mean the same; what is different is that it keeps the input as it is, that it works on the data
 * of all ranks as one, and that ranks do not wait for each other (distributed union-find: Morozov
 * and others, "IExchange: Asynchronous Communication and Termination Detection for Iterative
 * Algorithms", LDAV 2021, section 4.2).
 *
 * **Input.** Any vtkDataSet, or any composite of them (multiblock, partitioned, AMR), distributed
 * over the ranks in any way. All its blocks on all ranks are one domain. Cells are connected if they
 * share a point (or an edge, or a face: see ConnectThrough). Points of different data sets are the
 * same, and so are points of one data set, if
 * - all data sets are pieces of one extent (images of one lattice, or one data set that is not
 *   composite and has the same points wherever it has the same indices) or of one AMR hierarchy: by their place in it; else
 * - the input is not composite and has global point ids: by those (for cracks, whose two sides must
 *   not join); else
 * - their coordinates are exactly the same, or not further apart than Tolerance allows.
 *
 * Or a vtkHyperTreeGrid, or a composite of nothing but those, whose trees lie on the ranks in any way:
 * all must have the same root cells, and a tree must be on one rank and in one block, but for ghosts.
 * Its cells are the leaves (to where the grid's DepthLimiter cuts trees off) that are not masked, nor
 * in a masked cell. Leaves are neighbours by their place in the trees, whatever their levels.
 * Material interfaces do not divide them. It has arrays of cells only, so that scalars cannot be of
 * points, and POINT_SEEDED is an error.
 *
 * Cells on AMR levels that a finer level covers and hidden cells are left out. Ghost cells are not
 * needed; those that are asked of the output are asked of the input. Where there are some, they must
 * be copies of cells of the input, get the region of their originals and do not count. Ranks may be
 * empty.
 *
 * **Output 0.** The input with the array RegionId (vtkIdType) on cells and points: the number of the
 * cell's region; -1 out of range and in regions that are not selected. At a point: the least of the
 * RegionIds of its cells, on whichever rank they are. With several ranges the arrays of the second
 * and further ones are called RegionId_1, RegionId_2 ... With ExtractRegions: the cells of the
 * selected regions only, as vtkUnstructuredGrid, or vtkPolyData for poly data; of a hyper tree grid
 * the same trees with all other leaves masked, as vtkHyperTreeGridThreshold gives them. In a hyper
 * tree grid cells that are divided or masked have -1, and so have ghosts that are no copies of leaves
 * (vtkHyperTreeGridGhostCellsGenerator makes such of trees that a rank does not need in full). Field
 * data: that of the input, NumberOfRegions (of all, one tuple per range) and statistics (see
 * vtkAsyncAlgorithm).
 *
 * **Output 1.** A vtkTable of the selected regions, distributed: of N regions rank r of P has those
 * from N r / P on. Columns: RegionId, Range (with several ranges), Cells, Points (of hyper trees the
 * corners of leaves), Measure (the sum of its cells' lengths, areas and volumes), Centroid (the
 * cells' centroids weighted by measure; the middle of the bounds if the region has no measure but
 * others have), Bounds; and for each of StatisticsArrays A (A_0, A_1 ... if it has components)
 * "A Minimum", "A Maximum", "A Integral" (a cell's measure times its value, or the mean of its
 * points' values, added up) and "A Mean" (the integral over the measure); NaN where the array has
 * such in the region.
 *
 * **The same bits.** Both outputs, as sets of cells, points and rows, do not depend on the number of
 * ranks, on how the input is cut, on ghost cells, on threads, on Method, on the schedule or on the
 * timing of messages; sums are exact in fixed point. Statistics are outside this promise. Regions
 * are numbered by their first cell: by least global cell id if there are such (and the input is not
 * composite), else by place in the extent that all data sets are pieces of, else by the least point
 * in the order of x, y, z (of hyper trees by place in the lattice in that order). Or by their number
 * of cells, then by first cell: see RegionIdAssignmentMode. No rank holds a table of all regions.
 *
 * **Collective**, see vtkAsyncAlgorithm. An abort is looked for before and while the sets of the
 * ranks are united, and not while a rank works on its own cells.
 *
 * Labelling the cells of one rank is parallel through vtkSMPTools.
 *
 * **Not supported:** data sets of other kinds beside hyper tree grids. vtkUniformHyperTreeGrid works,
 * but not within ParaView 5.11, which asks every data set for its size:
 * vtkUniformHyperTreeGrid::GetActualMemorySizeBytes() calls itself there until the stack ends.
 *
 * @sa
 * vtkAsyncAlgorithm vtkConnectivityFilter vtkPConnectivityFilter
 */

#ifndef vtkAsyncConnectivity_h
#define vtkAsyncConnectivity_h

#include "TributaryFiltersModule.h" // For export macro
#include "vtkAsyncAlgorithm.h"

#include <array>  // For ScalarRanges
#include <string> // For StatisticsArrays
#include <vector> // For SeedIds

class vtkTable;

class TRIBUTARYFILTERS_EXPORT vtkAsyncConnectivity : public vtkAsyncAlgorithm
{
public:
  static vtkAsyncConnectivity* New();
  vtkTypeMacro(vtkAsyncConnectivity, vtkAsyncAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * Up to CLOSEST_POINT those of vtkConnectivityFilter.
   */
  enum ExtractionModes
  {
    POINT_SEEDED = 1, ///< Regions with a cell that has one of the points SeedIds.
    CELL_SEEDED = 2,  ///< Regions with one of the cells SeedIds.
    SPECIFIED = 3,    ///< SpecifiedRegionIds.
    LARGEST = 4,      ///< The region of most cells, of such the one with the first cell.
    ALL = 5,
    CLOSEST_POINT = 6, ///< The region with the point nearest to ClosestPoint, of several the first.
    SIZE_RANGE = 7     ///< Regions of as many cells as SizeRange allows.
  };

  enum RegionIdAssignmentModes
  {
    UNSPECIFIED = 0, ///< By first cell.
    CELL_COUNT_DESCENDING = 1,
    CELL_COUNT_ASCENDING = 2
  };

  enum Connections
  {
    FACES = 0,
    EDGES = 1,
    POINTS = 2
  };

  enum Methods
  {
    LABEL_PROPAGATION = 0,
    TREE_UNION = 1
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
  vtkIdType GetSeed(int index) const
  {
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
  int GetNumberOfSpecifiedRegions() const
  {
    return static_cast<int>(this->SpecifiedRegionIds.size());
  }
  /// -1 if there is none.
  vtkIdType GetSpecifiedRegion(int index) const
  {
    return index >= 0 && index < this->GetNumberOfSpecifiedRegions()
      ? this->SpecifiedRegionIds[std::size_t(index)]
      : -1;
  }
  ///@}

  ///@{
  /**
   * The place of the mode CLOSEST_POINT. Default: 0, 0, 0.
   */
  vtkSetVector3Macro(ClosestPoint, double);
  vtkGetVector3Macro(ClosestPoint, double);
  ///@}

  ///@{
  /**
   * The least and the greatest number of cells of the mode SIZE_RANGE; 0 for the greatest: no limit.
   * Default: 1, 0.
   */
  vtkSetVector2Macro(SizeRange, vtkIdType);
  vtkGetVector2Macro(SizeRange, vtkIdType);
  ///@}

  ///@{
  /**
   * Whether only cells in a scalar range take part: the array is chosen with
   * SetInputArrayToProcess(0, ...), of points or cells, one component. A cell is in range if its
   * value is, or that of one of its points; see FullScalarConnectivity. Bounds belong to the range;
   * NaN is in none. Default: false.
   */
  vtkSetMacro(ScalarConnectivity, bool);
  vtkGetMacro(ScalarConnectivity, bool);
  vtkBooleanMacro(ScalarConnectivity, bool);
  ///@}

  ///@{
  /**
   * Whether all points of a cell must be in range (as with vtkThreshold's AllScalars), not only one.
   * Default: false.
   */
  vtkSetMacro(FullScalarConnectivity, bool);
  vtkGetMacro(FullScalarConnectivity, bool);
  vtkBooleanMacro(FullScalarConnectivity, bool);
  ///@}

  ///@{
  /**
   * The ranges of ScalarConnectivity; with more than one, each is looked at by itself. Default: one,
   * 0 to 1, which is what ranges are too that come to be because a later one is set.
   */
  void SetScalarRange(double lo, double hi);
  void SetScalarRange(int index, double lo, double hi);
  void GetScalarRange(int index, double range[2]) const;
  void SetNumberOfScalarRanges(int count);
  int GetNumberOfScalarRanges() const { return static_cast<int>(this->ScalarRanges.size()); }
  ///@}

  ///@{
  /**
   * What cells must share to be connected: FACES (what bounds a cell: edges of cells in 2-D, points
   * of cells in 1-D), EDGES or POINTS; on grids 6, 18 and 26 neighbours, in 2-D 4, 4 and 8. Cells of
   * different levels of an AMR hierarchy or a hyper tree grid share what the finer ones have.
   * Default: POINTS.
   */
  vtkSetClampMacro(ConnectThrough, int, FACES, POINTS);
  vtkGetMacro(ConnectThrough, int);
  ///@}

  ///@{
  /**
   * Whether only cells of equal labels are connected; the array of cells is chosen with
   * SetInputArrayToProcess(1, ...). Default: false.
   */
  vtkSetMacro(LabelConnectivity, bool);
  vtkGetMacro(LabelConnectivity, bool);
  vtkBooleanMacro(LabelConnectivity, bool);
  ///@}

  ///@{
  /**
   * Arrays that the table tells minimum, maximum, mean and integral of; an array of cells, or else
   * of points. All data sets must have it. Default: none.
   */
  void AddStatisticsArray(const char* name);
  void ClearStatisticsArrays();
  int GetNumberOfStatisticsArrays() const
  {
    return static_cast<int>(this->StatisticsArrays.size());
  }
  /// Null if there is none.
  const char* GetStatisticsArray(int index) const
  {
    return index >= 0 && index < this->GetNumberOfStatisticsArrays()
      ? this->StatisticsArrays[std::size_t(index)].c_str()
      : nullptr;
  }
  ///@}

  ///@{
  /**
   * Points of two cells that are not further apart than this share of the smaller one's diagonal
   * are the same point, and so on from point to point. 0 to 0.5; 0, the default: only points with
   * exactly the same coordinates. If it is not 0 neither extents nor global ids of points decide, and
   * regions without global cell ids are numbered by place in space. Cells should not differ in size
   * by orders of magnitude then: memory follows the number of points that the largest reaches. Hyper
   * trees have no use for it: their leaves meet exactly.
   */
  vtkSetMacro(Tolerance, double);
  vtkGetMacro(Tolerance, double);
  ///@}

  ///@{
  /**
   * How sets of cells of different blocks are united: labels travel from block to block until
   * nothing changes (LABEL_PROPAGATION, in as many steps as a region has blocks in a row), or the
   * unions of a tree do (TREE_UNION, in the logarithm of that). The regions are the same. Default:
   * TREE_UNION.
   */
  vtkSetClampMacro(Method, int, LABEL_PROPAGATION, TREE_UNION);
  vtkGetMacro(Method, int);
  ///@}

  /**
   * The table of regions of this rank; owned by the filter, filled anew by each update, null before
   * the first.
   */
  vtkTable* GetRegionTable();

protected:
  vtkAsyncConnectivity();
  ~vtkAsyncConnectivity() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int FillOutputPortInformation(int port, vtkInformation* info) override;
  int RequestDataObject(vtkInformation*, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
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
  double ClosestPoint[3] = { 0, 0, 0 };
  vtkIdType SizeRange[2] = { 1, 0 };
  bool ScalarConnectivity = false;
  bool FullScalarConnectivity = false;
  std::vector<std::array<double, 2>> ScalarRanges{ { { 0.0, 1.0 } } };
  int ConnectThrough = POINTS;
  bool LabelConnectivity = false;
  std::vector<std::string> StatisticsArrays;
  double Tolerance = 0;
  int Method = TREE_UNION;

private:
  vtkAsyncConnectivity(const vtkAsyncConnectivity&) = delete;
  void operator=(const vtkAsyncConnectivity&) = delete;

  class vtkRun;
};

#endif
