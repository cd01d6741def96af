#pragma once

#include "runtime/message.hpp"
#include "runtime/stage_host.hpp"

#include <boost/icl/interval_set.hpp>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace hyperframes {

/// What is known here of a part of the graph that runs in another process, kept by what goes in and
/// what comes out: the frames whose outcome it owes, the credit on its edges, the ends that it has
/// passed on. When it is gone, this says what is lost, what its neighbours are owed, and where
/// another one takes over.
///
/// A frame is in the part from the message that brings it, or from the first one that shows that
/// its camera has given it, until the message that takes it out or gives it its outcome. What a part
/// that is gone had in its queues cannot be told from what it worked on: both are lost. Not
/// thread-safe.
class part_account {
public:
  /// @param stages those of the part; they outlive this.
  explicit part_account(const std::vector<const stage_wiring*>& stages);

  bool has(stage_index stage) const;
  /// The edge into the part, or out of it; throws `failure` where there is none.
  const edge_wiring& into(edge_index edge) const;
  const edge_wiring& out_of(edge_index edge) const;

  // --- what goes in
  void entered(const put_message& m);
  void entered(const end_message& m);
  /// Credit that comes back to the part. Throws `failure` for more than it had used.
  void entered(const credit_message& m);

  // --- what comes out. Throws `failure` for what cannot be: the part's process is at fault.
  using ranges = std::vector<outcome_range>;
  /// @returns the frames that were captured and not known of.
  ranges captured(const outcome_range& frames);
  ranges left(const put_message& m);
  ranges left(stage_index settler, const outcome_message& m);
  void left(const credit_message& m);
  /// @returns false for one that has come out before, of the part's predecessor.
  bool left(const end_message& m);

  /// Frames whose outcome the part owes to `settler`.
  std::uint64_t held(stage_index settler) const;
  std::uint64_t held() const; ///< to all

  // --- when the part is gone
  /// Everything that it held, as outcomes for each settling stage. It holds nothing then.
  std::vector<std::pair<stage_index, outcome_message>> take_lost();
  /// The credit of what it had in its queues, for the stages above. It owes none then.
  std::vector<std::pair<stage_index, credit_message>> take_owed();
  /// For the next one: credit on its edges that is not back, where its streams stand, and the ends
  /// that are to enter again.
  std::vector<credit_message> used() const;
  std::vector<captured_position> positions() const;
  std::vector<end_message> ends() const;
  /// Where nobody takes over: the ends that the stages below still wait for. Again after each one
  /// that enters.
  std::vector<std::pair<stage_index, end_message>> take_missing_ends();

private:
  using ids = boost::icl::interval_set<std::uint64_t>;
  using epoch_of_stream = std::pair<stream_index, std::uint32_t>;
  struct credit_state {
    std::uint32_t items = 0;
    std::uint64_t bytes = 0;
  };
  using lanes = std::map<stream_index, credit_state>;
  struct edge {
    edge_wiring wiring;
    std::vector<stream_index> streams; ///< that pass on it
    lanes used;
    std::map<stream_index, stream_end> last_end; ///< that passed
  };
  struct source {
    std::vector<stage_index> settlers;
    captured_position begin;
    std::map<std::uint32_t, std::uint64_t> frames; ///< by epoch
  };

  static edge& at(std::map<edge_index, edge>& edges, edge_index index, const char* what);
  static void take_back(edge& e, const credit_message& m);
  void add(const outcome_range& r, const std::vector<stage_index>& settlers);
  void remove(const outcome_range& r, stage_index settler);
  void forget_passed_ends(stream_index stream);

  std::map<stage_index, bool> stages_;
  std::map<edge_index, edge> in_, out_;
  std::map<stream_index, source> sources_;
  std::map<stage_index, std::map<epoch_of_stream, ids>> held_; ///< by settling stage
  std::vector<end_message> ends_; ///< that entered, and have not passed or are their stream's last
};

} // namespace hyperframes
