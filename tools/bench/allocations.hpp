#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Who allocates: every `operator new` of the program is counted while a `counting` lives. Linking
/// this file replaces the program's operator new.
namespace hyperframes::bench {

enum class owner : std::uint8_t { ours, caf, others };

struct allocation_site {
  owner whose = owner::ours;
  std::string name; ///< the function that allocates, or the library where it is in none of ours
  std::uint64_t times = 0;
};

/// Counts from its construction on. One at a time.
class counting {
public:
  counting();
  ~counting();
  counting(const counting&) = delete;
  counting& operator=(const counting&) = delete;
  /// Stops. @returns where it was allocated, the most frequent first.
  std::vector<allocation_site> stop();
};

std::uint64_t times_by(const std::vector<allocation_site>& sites, owner whose);

} // namespace hyperframes::bench
