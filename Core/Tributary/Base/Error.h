// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace tributary {

/// The cause of an Error, which determines what the caller can do.
enum class ErrorKind {
  Input,    ///< An argument, a file or a data set is invalid. Correct it and call again.
  Message,  ///< A message is malformed. The ranks run different programs, or one has a defect.
  Memory,   ///< A rank has no memory for its data or a message. Use more ranks or smaller data.
  Mpi,      ///< A function of MPI failed: see MpiError.
  Stall,    ///< No rank makes progress.
  Aborted,  ///< A rank was asked to end the work: see Transport::setInterruption().
  Internal  ///< A defect of this library, or an exception of another library.
};

/// The base class of all exceptions of the library. The text names the problem and its cure and can
/// be shown to a user unchanged. An Error is thrown on the rank that detects the problem;
/// collective operations agree on it (see agreeOnError()) and then throw it on all ranks.
class Error : public std::runtime_error {
 public:
  /// An error of kind Input.
  explicit Error(const std::string& text) : std::runtime_error(text) {}
  /// @overload
  explicit Error(const char* text) : std::runtime_error(text) {}
  /// @param text  names the problem and its cure
  /// @param rank  the rank that detects the problem, if known
  Error(ErrorKind kind, const std::string& text, std::optional<int> rank = std::nullopt)
      : std::runtime_error(text), kind_(kind), rank_(rank) {}

  /// The cause of the error.
  ErrorKind kind() const noexcept { return kind_; }
  /// The rank that detected the problem, if known. After ErrorCollector::agree() it is known on all
  /// ranks.
  std::optional<int> rank() const noexcept { return rank_; }

 private:
  ErrorKind kind_ = ErrorKind::Input;
  std::optional<int> rank_;
};

/// Thrown if a function of MPI fails. This header does not include MPI: codes are plain integers.
class MpiError : public Error {
 public:
  /// @param function  its name, for instance "MPI_Isend"
  /// @param code  its error code, which depends on the MPI implementation
  /// @param errorClass  the error class of the code, for instance MPI_ERR_TRUNCATE
  /// @param rank  the rank on which it failed, if known
  MpiError(const std::string& text, const std::string& function, int code, int errorClass,
           std::optional<int> rank = std::nullopt)
      : Error(ErrorKind::Mpi, text, rank),
        function_(std::make_shared<const std::string>(function)),
        code_(code),
        errorClass_(errorClass) {}

  /// The name of the MPI function. If an exchange throws on another rank than the one that failed,
  /// the name is empty and the codes are 0: only the kind and text are known there.
  const std::string& function() const noexcept { return *function_; }
  /// The error code that the function returned.
  int code() const noexcept { return code_; }
  /// The MPI error class of the code.
  int errorClass() const noexcept { return errorClass_; }

 private:
  std::shared_ptr<const std::string> function_;  // copies of an exception must not throw
  int code_;
  int errorClass_;
};

/// Throws Error of kind Message: "malformed message: WHAT; do all ranks run the same version of the
/// program?".
[[noreturn]] inline void refuseMessage(const std::string& what) {
  throw Error(ErrorKind::Message,
              "malformed message: " + what + "; do all ranks run the same version of the program?");
}

}  // namespace tributary
