#include "actors/infer/batch_worker.hpp"

namespace hyperframes {

namespace {

class local_worker final : public batch_worker {
public:
  local_worker(batch_runner runner, faulty_session* faults)
    : runner_(std::move(runner)), faults_(faults) {}

  batch_outcome run(const batch& work, std::optional<worker_fault_kind> fault) override {
    if (faults_)
      faults_->arm(fault);
    if (fault == worker_fault_kind::vanish)
      throw worker_lost("a fault that was asked for: it vanishes");
    return runner_.run(work);
  }
  expected<void> warm_up(const worker_wish& wish) {
    return runner_.warm_up(wish.slots, wish.width, wish.height);
  }

private:
  batch_runner runner_;
  faulty_session* faults_; ///< owned by `runner_`; null where no fault may be asked for
};

class local_source final : public worker_source {
public:
  local_source(model_ptr model, bool faults) : model_(std::move(model)), faults_(faults) {}

  expected<std::unique_ptr<batch_worker>> open(const worker_wish& wish) override {
    auto session = model_->make_session();
    if (!session)
      return session.error();
    faulty_session* faults = nullptr;
    if (faults_) {
      auto around = std::make_unique<faulty_session>(std::move(*session));
      faults = around.get();
      *session = std::move(around);
    }
    auto worker = std::make_unique<local_worker>(batch_runner{model_, std::move(*session)}, faults);
    if (const auto ran = worker->warm_up(wish); !ran)
      return ran.error();
    return std::unique_ptr<batch_worker>{std::move(worker)};
  }
  std::uint32_t replacements() const override { return 8; }

private:
  model_ptr model_;
  bool faults_;
};

} // namespace

std::shared_ptr<worker_source> local_workers(model_ptr model, bool faults) {
  return std::make_shared<local_source>(std::move(model), faults);
}

} // namespace hyperframes
