// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncLineAlgorithm
 * @brief   Superclass of filters that trace particles from seeds through a vector field
 *
 * vtkAsyncLineAlgorithm has the seeds and the properties of the output that vtkAsyncStreamTracer
 * and vtkAsyncPathTracer share. Port 1 is the source of the seeds.
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

class vtkPolyData;
namespace tributary {
struct LineSettings;
}  // namespace tributary

class TRIBUTARYFILTERS_EXPORT vtkAsyncLineAlgorithm : public vtkAsyncParticleAlgorithm {
 public:
  vtkAbstractTypeMacro(vtkAsyncLineAlgorithm, vtkAsyncParticleAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * The lines or particles of this rank.
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

 protected:
  /// @param terminalSpeed  the default of the filter
  explicit vtkAsyncLineAlgorithm(double terminalSpeed);
  ~vtkAsyncLineAlgorithm() override = default;

  int FillOutputPortInformation(int port, vtkInformation* info) override;
  void CheckProperties() override;
  /// Adds the properties that determine the points of lines and their arrays.
  void DescribeProperties(tributary::PropertyList& list) override;

  /// Local. The settings of a run with the values of the properties.
  [[nodiscard]] tributary::LineSettings MakeLineSettings();

  bool ComputeVorticity = true;
  double RotationScale = 1.0;
  std::set<std::string> PointArrays;

 private:
  vtkAsyncLineAlgorithm(const vtkAsyncLineAlgorithm&) = delete;
  void operator=(const vtkAsyncLineAlgorithm&) = delete;
};

#endif
