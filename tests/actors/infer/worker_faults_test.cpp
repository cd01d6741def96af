#include "actors/infer/worker_faults.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;

namespace {

class counting_session final : public infer_session {
public:
  expected<recycled_vector<inference_ptr>> run(const infer_input& input) override {
    return recycled_vector<inference_ptr>(input.slots, std::make_shared<const inference>());
  }
};

struct slots {
  std::vector<std::byte> data = std::vector<std::byte>(80);
  std::vector<slot_geometry> geometry = std::vector<slot_geometry>(8);
  std::vector<std::uint8_t> valid = std::vector<std::uint8_t>(8, 1);
  infer_input from(std::size_t first, std::size_t count) {
    return {std::span{data}.subspan(first * 10, count * 10), static_cast<std::uint32_t>(count),
            std::span{geometry}.subspan(first, count), std::span{valid}.subspan(first, count), 0, 0};
  }
};

} // namespace

TEST_CASE("a fault hits the batches that it names, or a share of them, the same ones each time") {
  const std::vector<worker_fault> named{{.kind = worker_fault_kind::hang, .at = {3, 7}}};
  for (std::uint64_t n = 0; n < 10; ++n)
    CHECK((fault_at(named, n, 0) != nullptr) == (n == 3 || n == 7));
  CHECK(fault_at(named, 3, 1) == nullptr); // tried again, it works
  const std::vector<worker_fault> often{{.kind = worker_fault_kind::slow, .rate = 0.25, .seed = 4}};
  int hits = 0;
  for (std::uint64_t n = 0; n < 10'000; ++n) {
    hits += fault_at(often, n, 0) ? 1 : 0;
    CHECK(fault_at(often, n, 0) == fault_at(often, n, 0));
  }
  CHECK(hits > 2'300);
  CHECK(hits < 2'700);
}

TEST_CASE("a model that was told to throw does so whenever one frame is in the run") {
  faulty_session session{std::make_unique<counting_session>()};
  slots s;
  s.valid[0] = 0;
  CHECK(session.run(s.from(0, 8)).has_value());
  session.arm(worker_fault_kind::failing);
  CHECK_THROWS(session.run(s.from(0, 8)));
  CHECK_THROWS(session.run(s.from(0, 4)));
  CHECK(session.run(s.from(4, 4)).has_value());
  CHECK(session.run(s.from(0, 1)).has_value());
  CHECK_THROWS(session.run(s.from(1, 1)));
  session.arm(worker_fault_kind::wrong_shape);
  CHECK(session.run(s.from(0, 8))->size() == 7);
  CHECK(session.run(s.from(2, 6))->size() == 6);
  session.arm(std::nullopt);
  CHECK(session.run(s.from(0, 8))->size() == 8);
}
