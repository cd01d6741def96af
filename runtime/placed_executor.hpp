#pragma once

#include "runtime/stage_host.hpp"

#include <memory>
#include <vector>

namespace hyperframes {

/// Stages that run in another process. Any thread.
class stages_elsewhere {
public:
  virtual ~stages_elsewhere() = default;
  virtual void post(stage_index to, message m) = 0;
};

/// An executor for the stages of this process that knows where the others are.
class placed_executor final : public executor {
public:
  explicit placed_executor(executor& here) : here_(here) {}
  /// @param where for each stage; null: in this process. Before anything runs.
  void place(std::vector<std::shared_ptr<stages_elsewhere>> where) { where_ = std::move(where); }

  const clock& time() const override { return here_.time(); }
  void post(stage_index to, message m) override {
    if (to < where_.size() && where_[to])
      where_[to]->post(to, std::move(m));
    else
      here_.post(to, std::move(m));
  }
  void wake_at(stage_index stage, graph_time t) override { here_.wake_at(stage, t); }
  void submit(stage_index stage, std::uint64_t generation, blocking_work work) override {
    here_.submit(stage, generation, std::move(work));
  }
  std::function<void()> poke(stage_index stage) override { return here_.poke(stage); }

private:
  executor& here_;
  std::vector<std::shared_ptr<stages_elsewhere>> where_;
};

} // namespace hyperframes
