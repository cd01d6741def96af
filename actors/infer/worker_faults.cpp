#include "actors/infer/worker_faults.hpp"

#include "cameras/random_draw.hpp"

#include <algorithm>
#include <array>

namespace hyperframes {

namespace {

constexpr std::array<const char*, 5> kind_names{"slow", "throw", "wrong_shape", "hang", "vanish"};

worker_fault_kind kind_of(const std::string& name) {
  return static_cast<worker_fault_kind>(std::ranges::find(kind_names, name) - kind_names.begin());
}

const settings& entry_in(const setting& s) {
  return *std::get<std::shared_ptr<settings>>(s.value);
}

} // namespace

const char* to_string(worker_fault_kind k) {
  return kind_names[static_cast<std::size_t>(k)];
}

std::vector<worker_fault> worker_faults_of(const settings& config, std::uint64_t seed) {
  std::vector<worker_fault> result;
  if (!config.has("faults"))
    return result;
  for (const auto& s : config.items("faults")) {
    const auto& entry = entry_in(s);
    auto& f = result.emplace_back();
    f.kind = kind_of(entry.text("kind"));
    if (entry.has("at"))
      for (auto n : entry.numbers("at"))
        f.at.push_back(static_cast<std::uint64_t>(n));
    if (entry.has("rate"))
      f.rate = entry.number("rate");
    if (entry.has("by"))
      f.by = entry.time("by");
    if (entry.has("tries"))
      f.tries = static_cast<std::uint32_t>(entry.integer("tries"));
    f.seed = entry.has("seed") ? static_cast<std::uint64_t>(entry.integer("seed")) : seed;
  }
  return result;
}

parameter worker_faults_parameter() {
  using enum parameter_type;
  parameter p;
  p.name = "faults";
  p.type = list;
  p.element = object;
  p.help = "What the workers do wrong, to rehearse it: a list; the first entry that hits a batch counts.";
  p.fields = {{.name = "kind",
               .type = choice,
               .help = "slow: the batch takes longer. throw: the model fails on one of its frames. wrong_shape: "
                       "it gives too few results then. hang: the call does not return. vanish: the worker is gone.",
               .required = true,
               .choices = {kind_names.begin(), kind_names.end()}},
              {.name = "at",
               .type = list,
               .help = "Batches at which it happens, by their numbers from 0.",
               .least = 0,
               .element = integer},
              {.name = "rate",
               .type = number,
               .help = "Share of the batches at which it happens, in place of `at`.",
               .least = 0,
               .most = 1},
              {.name = "by",
               .type = parameter_type::duration,
               .help = "Of slow: how much longer.",
               .least = 0,
               .most = 86400},
              {.name = "tries",
               .type = integer,
               .help = "How often it happens to the same batch, which is tried again where a worker is lost.",
               .initial = initial_value(std::int64_t{1}),
               .least = 1,
               .most = 100},
              {.name = "seed",
               .type = integer,
               .help = "Of the draws of `rate`; by default the graph's.",
               .least = 0}};
  return p;
}

void check_worker_faults(const settings& config, std::vector<fault>& faults) {
  if (!config.has("faults"))
    return;
  std::size_t index = 0;
  for (const auto& s : config.items("faults")) {
    const auto& entry = entry_in(s);
    const auto fail = [&](const std::string& what) {
      faults.push_back({s.mark, "faults." + std::to_string(index) + ", a " + entry.text("kind") + ", " + what});
    };
    if (entry.has("at") == entry.has("rate"))
      fail(entry.has("at") ? "has both 'at' and 'rate': keep one of them"
                           : "says not when: it needs 'at' (numbers of batches) or 'rate' (share of the batches)");
    if (entry.has("at") && entry.items("at").empty())
      fail("has no batch in 'at': name one, or use 'rate'");
    const bool slow = entry.text("kind") == "slow";
    if (slow && !(entry.has("by") && entry.time("by") > duration{0}))
      fail("needs 'by' above 0: how much longer the batch takes");
    if (!slow && entry.has("by"))
      fail("has no 'by': remove it");
    ++index;
  }
}

const worker_fault* fault_at(const std::vector<worker_fault>& faults, std::uint64_t number, std::uint32_t tries) {
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const auto& f = faults[i];
    if (tries >= f.tries)
      continue;
    if (f.rate ? random_draw{f.seed + i, number}.unit() < *f.rate
               : std::ranges::find(f.at, number) != f.at.end())
      return &f;
  }
  return nullptr;
}

void faulty_session::arm(std::optional<worker_fault_kind> fault) {
  fault_ = fault;
  hit_ = nullptr;
}

expected<recycled_vector<inference_ptr>> faulty_session::run(const infer_input& input) {
  if (!fault_ || input.slots == 0)
    return inside_->run(input);
  const auto slot_bytes = input.data.size() / input.slots;
  if (!hit_) {
    const auto first = std::ranges::find_if(input.valid, [](auto v) { return v != 0; });
    hit_ = input.data.data()
           + (first == input.valid.end() ? 0 : static_cast<std::size_t>(first - input.valid.begin()) * slot_bytes);
  }
  if (hit_ < input.data.data() || hit_ >= input.data.data() + input.data.size())
    return inside_->run(input);
  if (*fault_ == worker_fault_kind::failing)
    throw std::runtime_error("a fault that was asked for: the model throws");
  auto result = inside_->run(input);
  if (result && *fault_ == worker_fault_kind::wrong_shape)
    result->pop_back();
  return result;
}

} // namespace hyperframes
