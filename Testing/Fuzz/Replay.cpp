// SPDX-License-Identifier: BSD-3-Clause
// The main function of a harness without libFuzzer:
//
//   <harness> <folder>...          decodes each file of these folders, and each seed
//   <harness> --write <folder>     writes the seeds there
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "Harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fs = std::filesystem;
using namespace tributary;

namespace {

void write(const fs::path& folder) {
  fs::create_directories(folder);
  for (const fuzz::Seed& seed : fuzz::seeds()) {
    std::ofstream file(folder / seed.name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.bytes.data()),
               static_cast<std::streamsize>(seed.bytes.size()));
    std::printf("%s: %zu bytes\n", seed.name.c_str(), seed.bytes.size());
  }
}

/// Copies the input to memory of its exact size, so that sanitizers see each read beyond it.
void replay(const std::string& name, const char* data, std::size_t size) {
  std::printf("%s\n", name.c_str());
  std::fflush(stdout);
  const std::vector<std::uint8_t> input(data, data + size);
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count == 3 && std::string(arguments[1]) == "--write") {
      write(arguments[2]);
      return 0;
    }
    std::size_t files = 0;
    for (int i = 1; i < count; ++i) {
      for (const auto& entry : fs::directory_iterator(arguments[i])) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        replay(entry.path().string(), text.data(), text.size());
        ++files;
      }
    }
    for (const fuzz::Seed& seed : fuzz::seeds())
      replay("seed " + seed.name, reinterpret_cast<const char*>(seed.bytes.data()),
             seed.bytes.size());
    std::printf("%zu files\n", files);
    return files > 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
