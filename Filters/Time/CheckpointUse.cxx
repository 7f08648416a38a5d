// SPDX-License-Identifier: BSD-3-Clause
#include "Time/CheckpointUse.h"

#include <exception>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"

namespace tributary {

void CheckpointUse::find(const std::string& directory, const Bytes& basis,
                         const std::function<Fit(const CheckpointIndex&)>& plan) {
  error_.clear();
  found_.reset();
  if (hasBegun_ || directory.empty()) return;
  const auto refuse = [&](const char* what) {
    throw Error("the checkpoint in \"" + directory + "\" was written with other " + what +
                "; restore these, or switch Resume off");
  };
  try {
    auto index = Checkpoint(directory, name_).find();
    if (!index) return;
    if (index->basis != basis) refuse("properties");
    const Fit fit = plan(*index);
    if (fit == Fit::OtherSteps) refuse("time steps");
    if (fit == Fit::Resumes) found_ = std::move(index);
  } catch (const std::exception& error) {
    error_ = error.what();
  }
}

void CheckpointUse::load(Transport& transport, const std::string& directory,
                         const std::function<void(std::vector<Bytes>)>& load) const {
  try {
    load(Checkpoint(directory, name_).read(transport, *found_));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input && error.kind() != ErrorKind::Message) throw;
    throw Error(
        error.kind(),
        std::string(error.what()) + "; switch Resume off, or choose another Checkpoint Directory",
        error.rank());
  }
}

void CheckpointUse::begin() {
  found_.reset();
  hasBegun_ = true;
  stepsAdded_ = 0;
}

bool CheckpointUse::addStep(Transport& transport, const CheckpointSettings& settings,
                            const std::function<Bytes(CheckpointIndex&)>& save) {
  if (settings.directory.empty() || ++stepsAdded_ % settings.interval != 0) return false;
  CheckpointIndex index;
  Bytes part;
  collectively(transport, [&] { part = save(index); });
  Checkpoint(settings.directory, name_).write(transport, std::move(index), part);
  return true;
}

}  // namespace tributary
