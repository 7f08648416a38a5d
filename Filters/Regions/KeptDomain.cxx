// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/KeptDomain.h"

#include <vtkCellData.h>
#include <vtkPointData.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "Common/RunStatistics.h"
#include "Regions/RegionArrays.h"

#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {

KeptDomain::Part KeptDomain::partOf(const Leaf& leaf, vtkDataArray* labels) {
  if (leaf.trees) return {};
  Part part;
  part.isComparable = true;
  part.mesh = fingerprintOfMesh(leaf.dataSet);
  for (const std::string& name : {leaf.group, leaf.hierarchy}) {
    part.names.addValue(name.size());
    part.names.add(name.data(), name.size());
  }
  part.names.addValue(leaf.level);
  for (vtkDataArray* array : {leaf.dataSet->GetPointData()->GetGlobalIds(),
                              leaf.dataSet->GetCellData()->GetGlobalIds(), labels})
    addArray(part.names, array);
  return part;
}

std::vector<KeptDomain::Part> KeptDomain::partsOf(const std::vector<Leaf>& leaves,
                                                  const std::vector<vtkDataArray*>& labels) {
  std::vector<Part> parts;
  parts.reserve(leaves.size());
  for (std::size_t n = 0; n < leaves.size(); ++n) parts.push_back(partOf(leaves[n], labels[n]));
  return parts;
}

const ComponentDomain* KeptDomain::update(const RegionSettings& settings, const RunContext& context,
                                          vtkDataObject* input, const std::vector<Leaf>& leaves,
                                          double progress) {
  Transport& transport = context.transport;
  std::vector<vtkDataArray*> labels(leaves.size(), nullptr);
  if (settings.labelConnectivity) labels = findLabels(transport, leaves, settings.labels);
  const Rules rules{transport.rank(), transport.size(), settings.through,
                    settings.labelConnectivity, settings.tolerance};
  std::vector<Part> parts;
  bool stays = false;  // the input is the very same
  bool isSame = false;
  ErrorCollector errors;
  errors.attempt([&] {
    stays = domain_ && rules == rules_ && labels == labels_ && input_.isCurrent(input);
    if (!stays) parts = partsOf(leaves, labels);
    isSame = stays || (domain_ && rules == rules_ && parts == parts_);
  });
  const bool reuse = allreduce(transport, ReduceOp::Min, std::int64_t(isSame)) != 0;
  if (!reuse) domain_.reset();  // before new memory is allocated
  errors.attempt([&] {
    if (stays) return;
    for (std::size_t n = 0; reuse && n < leaves.size(); ++n) domain_->pieces[n]->refer(leaves[n]);
    rules_ = rules;
    input_ = DataVersion(input);
    labels_ = labels;
    parts_ = std::move(parts);
  });
  errors.agree(transport);
  if (!reuse)
    domain_ =
        makeComponentDomain(transport, leaves, labels, settings.labelConnectivity, settings.through,
                            settings.tolerance, makeUnionOptions(settings, context, progress));
  context.statistics.count("ReusedDomain", reuse);
  context.statistics.count("DomainBytes",
                           domain_ ? static_cast<std::int64_t>(domain_->memory()) : 0);
  return domain_.get();
}

std::vector<Fingerprint> KeptDomain::meshes() const {
  std::vector<Fingerprint> meshes;
  meshes.reserve(parts_.size());
  for (const Part& part : parts_) meshes.push_back(part.mesh);
  return meshes;
}

}  // namespace tributary
