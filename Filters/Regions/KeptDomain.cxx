// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/KeptDomain.h"

#include <vtkCellData.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkPointData.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "Common/RunStatistics.h"
#include "Regions/RegionArrays.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {

KeptDomain::Part KeptDomain::partOf(const Leaf& leaf, vtkDataArray* labels) {
  if (leaf.trees) return {};
  Part part;
  part.isComparable = true;
  part.mesh = fingerprintOfMesh(leaf.dataSet);
  for (const std::string& name : {leaf.group, leaf.hierarchy}) {
    part.identity.addValue(name.size());
    part.identity.add(name.data(), name.size());
  }
  part.identity.addValue(leaf.level);
  for (vtkDataArray* array : {leaf.dataSet->GetPointData()->GetGlobalIds(),
                              leaf.dataSet->GetCellData()->GetGlobalIds(), labels})
    addArray(part.identity, array);
  return part;
}

std::vector<KeptDomain::Part> KeptDomain::partsOf(const std::vector<Leaf>& leaves,
                                                  const std::vector<vtkDataArray*>& labels) {
  std::vector<Part> parts;
  parts.reserve(leaves.size());
  for (std::size_t n = 0; n < leaves.size(); ++n) parts.push_back(partOf(leaves[n], labels[n]));
  return parts;
}

namespace {

/// Collective. How the data of all ranks continue along the axes.
PeriodicAxes periodicAxesOf(Transport& transport, const RegionSettings& settings,
                            const std::vector<Leaf>& leaves) {
  if (!settings.periodic.any()) return {};
  std::vector<Leaf> withCells;
  collectively(transport, [&] {
    for (const Leaf& leaf : leaves) {
      if (leaf.trees)
        throw Error(
            "Periodic is on, but the input has hyper tree grids, which do not continue at their "
            "sides; switch it off, or apply Hyper Tree Grid To Unstructured Grid first");
      if (leaf.cells() > 0) withCells.push_back(leaf);
    }
  });
  const char* const whyNoGap =
      settings.labelConnectivity ? "has no labels, which Label Connectivity needs: switch it off"
      : !settings.scalarConnectivity
          ? "can only be closed where point data are in Scalar Range: switch Scalar Connectivity on"
          : "";
  // A gap has values if the scalars are those of points.
  return findPeriodicAxes(
      transport, withCells, settings.periodic,
      [&](vtkDataSet* dataSet) {
        std::vector<vtkDataArray*> values;
        if (*whyNoGap != 0) return values;
        Leaf leaf;
        leaf.dataSet = dataSet;
        int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
        vtkDataArray* const array = settings.scalars(leaf, association);
        if (array && association == vtkDataObject::FIELD_ASSOCIATION_POINTS)
          values.push_back(array);
        return values;
      },
      whyNoGap);
}

}  // namespace

const ComponentDomain* KeptDomain::update(const RegionSettings& settings, const RunContext& context,
                                          vtkDataObject* input, const std::vector<Leaf>& leaves,
                                          double progress) {
  Transport& transport = context.transport;
  std::vector<vtkDataArray*> labels(leaves.size(), nullptr);
  if (settings.labelConnectivity) labels = findLabels(transport, leaves, settings.labels);
  const Basis basis{transport.rank(),   transport.size(),
                    settings.through,   settings.labelConnectivity,
                    settings.tolerance, periodicAxesOf(transport, settings, leaves)};
  std::vector<Part> parts;
  bool isUnchanged = false;  // the input is the very same
  bool isSame = false;
  ErrorCollector errors;
  errors.attempt([&] {
    const bool mayStay = domain_ && basis == basis_;
    isUnchanged = mayStay && labels == labels_ && input_.isCurrent(input);
    if (isUnchanged)
      parts = std::move(parts_);
    else if (mayStay || settings.keepDomain)
      parts = partsOf(leaves, labels);
    isSame = isUnchanged || (mayStay && parts == parts_);
  });
  const bool reuse = allreduce(transport, ReduceOp::Min, std::int64_t(isSame)) != 0;
  if (!reuse) domain_.reset();  // before new memory is allocated
  errors.attempt([&] {
    // Also of the very same input: an array may have moved in memory.
    for (std::size_t n = 0; reuse && n < leaves.size(); ++n)
      if (!leaves[n].trees) domain_->pieces[n]->refer(leaves[n]);
    basis_ = basis;
    input_ = DataVersion(input);
    labels_ = std::move(labels);
    parts_ = std::move(parts);
  });
  errors.agree(transport);
  if (!reuse)
    domain_ = makeComponentDomain(transport, leaves, labels_, settings.labelConnectivity,
                                  settings.through, settings.tolerance, basis.periodic,
                                  makeUnionOptions(settings, context, progress));
  context.statistics.count("ReusedDomain", reuse);
  context.statistics.count("DomainBytes",
                           domain_ ? static_cast<std::int64_t>(domain_->memory()) : 0);
  return domain_.get();
}

std::vector<Fingerprint> KeptDomain::meshesOf(const std::vector<Leaf>& leaves) const {
  std::vector<Fingerprint> meshes;
  meshes.reserve(leaves.size());
  for (std::size_t n = 0; n < leaves.size(); ++n)
    meshes.push_back(parts_.empty() ? fingerprintOfMesh(leaves[n].dataSet) : parts_[n].mesh);
  return meshes;
}

}  // namespace tributary
