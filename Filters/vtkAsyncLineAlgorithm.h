// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncLineAlgorithm
 * @brief   Superclass of filters that trace particles from seeds through a vector field
 *
 * vtkAsyncLineAlgorithm has the seeds and the properties of the output that vtkAsyncStreamTracer
 * and vtkAsyncPathTracer share. Port 1 is the source of the seeds, and port 2, which is optional, a
 * surface for events. The second output contains the
 * crossings of events.
 *
 * @sa
 * vtkAsyncParticleAlgorithm
 */

#ifndef vtkAsyncLineAlgorithm_h
#define vtkAsyncLineAlgorithm_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncParticleAlgorithm.h"

#include <set>     // For PointArrays
#include <string>  // For PointArrays
#include <vector>  // For Events

class vtkDataObject;
class vtkPolyData;
namespace tributary {
struct EventArray;
struct EventList;
struct LineSettings;
}  // namespace tributary

class TRIBUTARYFILTERS_EXPORT vtkAsyncLineAlgorithm : public vtkAsyncParticleAlgorithm {
 public:
  vtkAbstractTypeMacro(vtkAsyncLineAlgorithm, vtkAsyncParticleAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * The lines or particles of this rank, and the crossings of events.
   */
  vtkPolyData* GetOutput();
  vtkPolyData* GetOutput(int port);
  ///@}

  /**
   * Sets the connection of port 1, the pipeline that produces the seeds.
   */
  void SetSourceConnection(vtkAlgorithmOutput* seeds);

  ///@{
  /**
   * Whether to add the arrays Vorticity, AngularVelocity (the component of the vorticity along the
   * flow) and Rotation (AngularVelocity integrated from the seed); further ones: see the filter.
   * Default: true.
   */
  vtkSetMacro(ComputeVorticity, bool);
  vtkGetMacro(ComputeVorticity, bool);
  vtkBooleanMacro(ComputeVorticity, bool);
  ///@}

  ///@{
  /**
   * Factor applied to AngularVelocity, and so to Rotation. Default: 1.
   */
  vtkSetMacro(RotationScale, double);
  vtkGetMacro(RotationScale, double);
  ///@}

  ///@{
  /**
   * The names of the point arrays that the output carries, in any order, beside point-centered
   * vectors and the arrays that the filter computes. A name that the input lacks causes a warning.
   * Fewer arrays save time and memory. Default: none, all arrays.
   */
  void AddPointArray(const char* name);
  void ClearPointArrays();
  ///@}

  ///@{
  /**
   * The events of lines, numbered from 0 in the order in which they are added, at most 8. Each text
   * begins with a type. Words with numbers follow, in any order; blanks, commas, parentheses and
   * brackets separate them:
   * - plane origin x y z normal x y z: positive on the side of the normal. Default origin: (0, 0,
   * 0)
   * - box lower x y z upper x y z: negative inside
   * - sphere center x y z radius r: negative inside. Default center: (0, 0, 0)
   * - angle origin x y z axis x y z from x y z degrees d: the half plane that ends at the axis and
   *   contains the direction `from`, rotated by d about the axis. Defaults: (0, 0, 0), (0, 0, 1),
   *   (1, 0, 0) and 0
   * - length l: where the line has the length l
   * - time t: where the absolute time since the seed is t
   * - isovalue name v: where an array of the input, interpolated, has the value v. The array is
   *   sought at points first, then at cells.
   * - label name l: the boundary of the region in which an array has the value l; positive is the
   *   way into the region. The array is sought at cells first, then at points; a position has the
   *   label of its cell, or of the point of the cell with the largest weight. Without l, each
   *   change of the label, without a direction.
   * - surface: a triangle of port 2, positive on the side to which its normal points
   *
   * If port 2 is connected and no text begins with surface, "surface end 1" is added at the end:
   * lines end at the surface.
   *
   * The name of an array is put in quotes if it has blanks or commas. All data sets with the
   * vectors must have the array, with one component. The points of both outputs have it, too,
   * whatever PointArrays is; an array of cells only if no array of points has its name. A step at
   * one of whose ends the array is not a number crosses nothing. Between two time steps, values are
   * linear in time, and labels are those of the earlier step until the time of the later one; an
   * array of cells has labels along lines if any text of a label names it.
   *
   * Further words: positive or negative (only crossings to the positive or the negative side count,
   * along the line from its seed), and end n (the n-th crossing of this event ends a line; without
   * n, the first). Example: "plane origin 0 0 1 normal 0 0 1 positive end 100". Default: none.
   */
  void AddEvent(const char* text);
  void ClearEvents();
  ///@}

  /**
   * Sets the connection of port 2, the pipeline that produces the surface of events; null for none.
   */
  void SetEventSurfaceConnection(vtkAlgorithmOutput* surfaces);

  ///@{
  /**
   * The name of an array of the cells of port 2, whose whole numbers become TargetId. Empty: the
   * numbers of its blocks. Default: empty.
   */
  void SetSurfaceLabelArray(const char* name);
  const char* GetSurfaceLabelArray() const { return this->SurfaceLabelArray.c_str(); }
  ///@}

  ///@{
  /**
   * Whether to output the crossings only, as for Poincare maps: lines are not stored, and the
   * memory is proportional to the number of crossings, and in unsteady fields also to the number of
   * particles at all steps. Needs events. Default: false.
   */
  vtkSetMacro(CrossingsOnly, bool);
  vtkGetMacro(CrossingsOnly, bool);
  vtkBooleanMacro(CrossingsOnly, bool);
  ///@}

 protected:
  /// @param terminalSpeed  the default of the filter
  explicit vtkAsyncLineAlgorithm(double terminalSpeed);
  ~vtkAsyncLineAlgorithm() override = default;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int FillOutputPortInformation(int port, vtkInformation* info) override;
  void CheckProperties() override;
  /// Adds the properties that determine the points of lines and their arrays.
  void DescribeProperties(tributary::PropertyList& list) override;

  /// Local. The settings of a run with the values of the properties.
  [[nodiscard]] tributary::LineSettings MakeLineSettings();

  bool ComputeVorticity = true;
  double RotationScale = 1.0;
  std::set<std::string> PointArrays;
  std::vector<std::string> Events;
  std::string SurfaceLabelArray;
  bool CrossingsOnly = false;

  /// Local. Whether port 2 is connected, the surface of events.
  bool HasSurface();
  /// Local. The surface of events of this rank; null without one.
  vtkDataObject* FindSurface(vtkInformationVector** inputVector);

  static constexpr int SURFACES = 2;

 private:
  /// Local. The events, and the arrays that they name.
  [[nodiscard]] tributary::EventList ParseEvents(std::vector<tributary::EventArray>& named);

  vtkAsyncLineAlgorithm(const vtkAsyncLineAlgorithm&) = delete;
  void operator=(const vtkAsyncLineAlgorithm&) = delete;
};

#endif
