#include "LineAssembly.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkIdTypeArray.h>
#include <vtkIntArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "FreshArray.h"
#include "LineFrames.h"
#include "PointEvaluator.h"
#include "SmpFor.h"

#include "Tributary/Agree.h"
#include "Tributary/Error.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

/// Points that are evaluated together: their weights and values stay in the nearest caches.
constexpr std::size_t kBatch = 256;

struct Batch {
  const FieldBlock* block;
  Span<const TrajectoryPoint> points;
};

/// Numbers that are kept for each rank and group of batches: 32 MB of them, with few ranks.
constexpr std::size_t kPlaces = std::size_t(1) << 22;
/// At least so many groups are made, for the threads' sake.
constexpr std::size_t kGroups = 64;

std::vector<Batch> makeBatches(const FlowDomain& flow, const TraceResult& traced) {
  std::vector<Batch> batches;
  for (std::size_t b = 0; b < traced.logs.size(); ++b)
    for (const TrajectoryLog& log : traced.logs[b])
      for (std::size_t c = 0; c < log.chunkCount(); ++c) {
        const auto chunk = log.chunk(c);
        for (std::size_t at = 0; at < chunk.size(); at += kBatch)
          batches.push_back({flow.domain->blocks[b].get(),
                             chunk.subspan(at, std::min(kBatch, chunk.size() - at))});
      }
  return batches;
}

/// Copies one tuple; the usual sizes as plain moves.
inline void copyTuple(std::byte* to, const std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    case 12:
      std::memcpy(to, from, 12);
      break;
    case 24:
      std::memcpy(to, from, 24);
      break;
    default:
      std::memcpy(to, from, bytes);
  }
}

/// The output's arrays, one per field.
struct Output {
  std::vector<vtkSmartPointer<vtkDataArray>> arrays;
  std::vector<std::byte*> data;

  Output(const std::vector<PointField>& fields, std::int64_t points) {
    for (const PointField& field : fields) {
      auto array = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(field.type));
      array->SetName(field.name.c_str());
      array->SetNumberOfComponents(field.components);
      void* memory = allocateFresh(static_cast<std::size_t>(points) * field.bytes);
      array->SetVoidArray(memory, points * field.components, 0, vtkFloatArray::VTK_DATA_ARRAY_FREE);
      arrays.push_back(array);
      data.push_back(static_cast<std::byte*>(memory));
    }
  }
};

/// Bytes in front of a travelling point: line and index.
constexpr std::size_t kHeader = sizeof(std::int64_t) + sizeof(std::int32_t);

std::size_t recordBytes(const std::vector<PointField>& fields) {
  std::size_t bytes = kHeader;
  for (const PointField& field : fields) bytes += field.bytes;
  return bytes;
}

std::int64_t placeOf(const LineTable& table, std::int64_t line, std::int32_t index) {
  const HalfLine* half = table.find(line);
  return half ? half->place(index) : -1;
}

/// The messages to the other ranks, and where in them the records of each group of consecutive
/// batches begin. A group is worked on by one thread.
struct Packing {
  std::size_t batchesPerGroup = 1;
  std::vector<std::int64_t> first;  // [group * ranks + rank], in records
  std::vector<Bytes> buffers;

  std::int64_t groups(std::size_t batches) const {
    return static_cast<std::int64_t>((batches + batchesPerGroup - 1) / batchesPerGroup);
  }
};

/// Room for all points that belong to other ranks' lines.
Packing planPacking(const std::vector<Batch>& batches, const Shares& shares, int rank,
                    std::size_t bytesPerRecord) {
  const auto ranks = static_cast<std::size_t>(shares.ranks);
  Packing packing;
  const std::size_t mostGroups = std::max(kGroups, kPlaces / ranks);
  packing.batchesPerGroup =
      std::max<std::size_t>(1, (batches.size() + mostGroups - 1) / mostGroups);
  const std::int64_t groups = packing.groups(batches.size());
  packing.first.assign(static_cast<std::size_t>(groups) * ranks, 0);
  smpFor(groups, [&](std::int64_t begin, std::int64_t end) {
    for (auto g = static_cast<std::size_t>(begin); g < static_cast<std::size_t>(end); ++g) {
      const std::size_t stop = std::min(batches.size(), (g + 1) * packing.batchesPerGroup);
      for (std::size_t b = g * packing.batchesPerGroup; b < stop; ++b)
        for (const TrajectoryPoint& point : batches[b].points)
          ++packing.first[g * ranks + static_cast<std::size_t>(shares.ownerOf(point.line >> 1))];
    }
  });
  packing.buffers.resize(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    std::int64_t total = 0;
    for (std::size_t g = 0; g < static_cast<std::size_t>(groups); ++g) {
      const std::int64_t count = packing.first[g * ranks + r];
      packing.first[g * ranks + r] = total;
      total += count;
    }
    if (r == static_cast<std::size_t>(rank) || total == 0) continue;
    const std::size_t bytes = static_cast<std::size_t>(total) * bytesPerRecord;
    packing.buffers[r].reserve(bytes + AllToAll::Tail);
    packing.buffers[r].resize(bytes);
  }
  return packing;
}

/// Evaluates all points recorded here: those of this rank's lines go to their places in the output,
/// the others into the messages. @return how many went to their places
std::int64_t evaluatePoints(const PointEvaluator& evaluator, const std::vector<Batch>& batches,
                            const LineTable& table, const Shares& shares, int rank,
                            Packing& packing, Output& output) {
  const std::vector<PointField>& fields = evaluator.fields();
  const std::size_t bytesPerRecord = recordBytes(fields);
  const auto ranks = static_cast<std::size_t>(shares.ranks);
  std::atomic<std::int64_t> placed{0};
  const std::int64_t groups = packing.groups(batches.size());
  smpFor(groups, [&](std::int64_t begin, std::int64_t end) {
    PointEvaluator::Scratch scratch;
    std::int64_t placedHere = 0;
    std::vector<std::byte*> target(kBatch);  // a record, or null
    std::vector<std::int64_t> place(kBatch);
    std::vector<std::int64_t> next(ranks);
    const auto firstBatch = static_cast<std::size_t>(begin) * packing.batchesPerGroup;
    const auto endBatch =
        std::min(batches.size(), static_cast<std::size_t>(end) * packing.batchesPerGroup);
    for (std::size_t b = firstBatch; b < endBatch; ++b) {
      const auto points = batches[b].points;
      evaluator.evaluate(*batches[b].block, points, scratch);
      if (ranks > 1 && b % packing.batchesPerGroup == 0)
        std::copy_n(&packing.first[b / packing.batchesPerGroup * ranks], ranks, next.begin());
      bool allHere = true;
      for (std::size_t i = 0; i < points.size(); ++i) {
        const int owner = ranks > 1 ? shares.ownerOf(points[i].line >> 1) : rank;
        target[i] = nullptr;
        if (owner == rank) {
          place[i] = placeOf(table, points[i].line, points[i].index);
          placedHere += place[i] >= 0;
          continue;
        }
        allHere = false;
        const auto r = static_cast<std::size_t>(owner);
        std::byte* record =
            packing.buffers[r].data() + static_cast<std::size_t>(next[r]++) * bytesPerRecord;
        std::memcpy(record, &points[i].line, sizeof points[i].line);
        std::memcpy(record + sizeof points[i].line, &points[i].index, sizeof points[i].index);
        target[i] = record + kHeader;
        place[i] = -1;
      }
      std::size_t offset = 0;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const std::size_t bytes = fields[f].bytes;
        const std::byte* from = scratch.buffers[f].data();
        for (std::size_t i = 0; i < points.size(); ++i, from += bytes) {
          if (place[i] >= 0)
            copyTuple(output.data[f] + static_cast<std::size_t>(place[i]) * bytes, from, bytes);
          else if (!allHere && target[i])
            copyTuple(target[i] + offset, from, bytes);
        }
        offset += bytes;
      }
    }
    placed += placedHere;
  });
  return placed;
}

/// Writes the points of one message to their places. @return how many had one
std::int64_t unpack(const Bytes& bytes, const std::vector<PointField>& fields,
                    const LineTable& table, Output& output) {
  const std::size_t bytesPerRecord = recordBytes(fields);
  if (bytes.size() % bytesPerRecord != 0)
    throw Error("a rank sent points of another size; do all ranks run the same version?");
  const auto records = static_cast<std::int64_t>(bytes.size() / bytesPerRecord);
  std::atomic<std::int64_t> placed{0};
  smpFor(records, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t placedHere = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::byte* record = bytes.data() + static_cast<std::size_t>(i) * bytesPerRecord;
      std::int64_t line;
      std::int32_t index;
      std::memcpy(&line, record, sizeof line);
      std::memcpy(&index, record + sizeof line, sizeof index);
      const std::int64_t place = placeOf(table, line, index);
      if (place < 0) continue;
      ++placedHere;
      const std::byte* from = record + kHeader;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const std::size_t size = fields[f].bytes;
        copyTuple(output.data[f] + static_cast<std::size_t>(place) * size, from, size);
        from += size;
      }
    }
    placed += placedHere;
  });
  return placed;
}

bool samePosition(const float* points, std::int64_t a, std::int64_t b) {
  return points[3 * a] == points[3 * b] && points[3 * a + 1] == points[3 * b + 1] &&
         points[3 * a + 2] == points[3 * b + 2];
}

/// Whether a point is at the same place (as float) as its neighbour towards the seed: such steps
/// are not output.
bool isRepeated(const float* points, const OutputLine& line, std::int64_t i) {
  if (i == line.origin) return false;
  const std::int64_t at = line.first + i;
  return samePosition(points, at, i > line.origin ? at - 1 : at + 1);
}

bool hasRepeatedPoints(const LineTable& table, const float* points) {
  std::vector<char> found(table.lines.size(), 0);
  smpFor(static_cast<std::int64_t>(table.lines.size()), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t l = begin; l < end; ++l) {
      const OutputLine& line = table.lines[static_cast<std::size_t>(l)];
      for (std::int64_t i = 1; i < line.points; ++i)
        if (samePosition(points, line.first + i - 1, line.first + i))
          found[static_cast<std::size_t>(l)] = 1;
    }
  });
  return std::find(found.begin(), found.end(), 1) != found.end();
}

/// Takes repeated points, and lines that are then a single point, out of all arrays.
void removeRepeatedPoints(LineTable& table, const std::vector<PointField>& fields, Output& output) {
  std::vector<OutputLine> lines;
  std::vector<std::int64_t> kept;
  const auto* points = reinterpret_cast<const float*>(output.data[0]);
  for (const OutputLine& line : table.lines) {
    OutputLine shorter = line;
    shorter.first = static_cast<std::int64_t>(kept.size());
    shorter.points = 0;
    for (std::int64_t i = 0; i < line.points; ++i) {
      if (isRepeated(points, line, i)) continue;
      if (i == line.origin) shorter.origin = shorter.points;
      kept.push_back(line.first + i);
      ++shorter.points;
    }
    if (shorter.points >= 2)
      lines.push_back(shorter);
    else
      kept.resize(static_cast<std::size_t>(shorter.first));
  }
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const std::size_t bytes = fields[f].bytes;
    for (std::size_t i = 0; i < kept.size(); ++i)  // places only move forward
      std::memmove(output.data[f] + i * bytes,
                   output.data[f] + static_cast<std::size_t>(kept[i]) * bytes, bytes);
    output.arrays[f]->SetNumberOfTuples(static_cast<vtkIdType>(kept.size()));
  }
  table.lines = std::move(lines);
  table.points = static_cast<std::int64_t>(kept.size());
}

vtkSmartPointer<vtkCellArray> polylines(const LineTable& table) {
  auto offsets = freshArray<vtkIdTypeArray>("", 1, static_cast<vtkIdType>(table.lines.size()) + 1);
  auto connectivity = freshArray<vtkIdTypeArray>("", 1, table.points);
  vtkIdType* first = offsets->GetPointer(0);
  for (std::size_t l = 0; l < table.lines.size(); ++l) first[l] = table.lines[l].first;
  first[table.lines.size()] = table.points;
  vtkIdType* ids = connectivity->GetPointer(0);
  smpFor(table.points, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ids[i] = i;
  });
  auto cells = vtkSmartPointer<vtkCellArray>::New();
  cells->SetData(offsets, connectivity);
  return cells;
}

void addCellData(vtkPolyData* lines, const LineTable& table, const SeedList& seeds) {
  const auto count = static_cast<vtkIdType>(table.lines.size());
  auto reasons = freshArray<vtkIntArray>("ReasonForTermination", 1, count);
  const bool small = seeds.largestShown <= std::numeric_limits<int>::max();
  vtkSmartPointer<vtkDataArray> ids;
  if (small)
    ids = freshArray<vtkIntArray>("SeedIds", 1, count);
  else
    ids = freshArray<vtkIdTypeArray>("SeedIds", 1, count);
  for (vtkIdType l = 0; l < count; ++l) {
    const OutputLine& line = table.lines[static_cast<std::size_t>(l)];
    reasons->SetValue(l, static_cast<int>(line.reason));
    const std::int64_t shown =
        seeds.shown.empty() ? line.seed
                            : seeds.shown[static_cast<std::size_t>(line.seed - table.firstSeed)];
    if (small)
      static_cast<vtkIntArray*>(ids.Get())->SetValue(l, static_cast<int>(shown));
    else
      static_cast<vtkIdTypeArray*>(ids.Get())->SetValue(l, shown);
  }
  lines->GetCellData()->AddArray(reasons);
  lines->GetCellData()->AddArray(ids);
}

/// Adds Rotation and Normals, which need whole lines.
void addFrames(vtkPointData* data, const float* points, vtkSmartPointer<vtkDataArray> velocity,
               const LineTable& table) {
  if (!vtkFloatArray::FastDownCast(velocity) && !vtkDoubleArray::FastDownCast(velocity)) {
    vtkNew<vtkDoubleArray> copy;
    copy->DeepCopy(velocity);
    velocity = copy.Get();
  }
  auto rotation = freshArray<vtkDoubleArray>("Rotation", 1, table.points);
  auto normals = freshArray<vtkDoubleArray>("Normals", 3, table.points);
  FrameArrays arrays;
  arrays.points = points;
  arrays.time = vtkDoubleArray::FastDownCast(data->GetArray("IntegrationTime"))->GetPointer(0);
  vtkSmartPointer<vtkDataArray> omega = data->GetArray("AngularVelocity");
  arrays.angularVelocity = vtkDoubleArray::FastDownCast(omega)->GetPointer(0);
  if (auto* values = vtkFloatArray::FastDownCast(velocity))
    arrays.velocityFloat = values->GetPointer(0);
  else
    arrays.velocityDouble = vtkDoubleArray::FastDownCast(velocity)->GetPointer(0);
  arrays.rotation = rotation->GetPointer(0);
  arrays.normals = normals->GetPointer(0);
  computeFrames(table.lines, arrays);
  // In the order of vtkStreamTracer's output.
  data->RemoveArray("AngularVelocity");
  data->AddArray(rotation);
  data->AddArray(omega);
  data->AddArray(normals);
}

vtkSmartPointer<vtkPolyData> makePolyData(const std::vector<PointField>& fields,
                                          const Output& output, const PointArrayList& arrays,
                                          vtkDataArray* velocity, const SeedList& seeds,
                                          const LineTable& table, bool withFrames) {
  auto lines = vtkSmartPointer<vtkPolyData>::New();
  vtkNew<vtkPoints> points;
  points->SetData(output.arrays[0]);
  lines->SetPoints(points);
  lines->SetLines(polylines(table));
  vtkPointData* data = lines->GetPointData();
  const auto add = [&](bool interpolated) {
    for (std::size_t f = 1; f < fields.size(); ++f)
      if ((fields[f].kind == PointField::Kind::Interpolated) == interpolated)
        data->AddArray(output.arrays[f]);
  };
  add(true);
  add(false);  // in place of an array of the input that has the name of one of ours
  for (std::size_t f = 1; f < fields.size(); ++f) {
    if (fields[f].kind != PointField::Kind::Interpolated) continue;
    const PointArray& array = arrays.arrays[fields[f].array];
    vtkDataArray* made = output.arrays[f];
    if (data->GetArray(array.name.c_str()) != made) continue;
    for (std::size_t c = 0; c < array.componentNames.size(); ++c)
      if (!array.componentNames[c].empty())
        made->SetComponentName(static_cast<vtkIdType>(c), array.componentNames[c].c_str());
    if (array.isScalars) data->SetActiveScalars(array.name.c_str());
    if (array.isVectors) data->SetActiveVectors(array.name.c_str());
  }
  if (withFrames) {
    addFrames(data, reinterpret_cast<const float*>(output.data[0]), velocity, table);
    data->SetActiveVectors("Normals");
  }
  addCellData(lines, table, seeds);
  return lines;
}

}  // namespace

vtkSmartPointer<vtkPolyData> assembleLines(Transport& transport, const FlowDomain& flow,
                                           const PointArrayList& arrays, const SeedList& seeds,
                                           LineTable& table, const TraceResult& traced,
                                           const AssemblySettings& settings) {
  const PointEvaluator evaluator(transport, flow, arrays, settings.rules, settings.computeVorticity,
                                 settings.rotationScale);
  const std::vector<PointField>& fields = evaluator.fields();
  std::unique_ptr<Output> output;
  Packing packing;
  std::int64_t placed = 0;
  together(transport, [&] {
    const std::vector<Batch> batches = makeBatches(flow, traced);
    output = std::make_unique<Output>(fields, table.points);
    if (transport.size() > 1)
      packing = planPacking(batches, seeds.shares, transport.rank(), recordBytes(fields));
    placed =
        evaluatePoints(evaluator, batches, table, seeds.shares, transport.rank(), packing, *output);
  });
  std::vector<Bytes> received;
  if (transport.size() > 1) {
    received = allToAll(transport, std::move(packing.buffers), KValues{transport.size()});
  }
  vtkSmartPointer<vtkPolyData> lines;
  together(transport, [&] {
    for (Bytes& bytes : received) {
      placed += unpack(bytes, fields, table, *output);
      bytes = Bytes();
    }
    if (placed != table.points)
      throw Error(std::to_string(placed) + " points of lines arrived where " +
                  std::to_string(table.points) + " were recorded");
    const auto* points = reinterpret_cast<const float*>(output->data[0]);
    if (hasRepeatedPoints(table, points)) removeRepeatedPoints(table, fields, *output);
    lines = makePolyData(fields, *output, arrays, output->arrays[evaluator.velocityField()], seeds,
                         table, settings.computeVorticity);
  });
  return lines;
}

}  // namespace tributary
