// Runs a fuzz target without libFuzzer: over a corpus as it is, then over random changes of it.
//
//   graph_text_fuzz [--seed N] [--rounds N] [--only ROUND] [--words FILE] SEED_FILE...
//
// The same arguments give the same inputs. When an input brings the target down or takes too long,
// its round is printed: `--only` with it repeats that input alone.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <csignal>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace {

constexpr unsigned longest_seconds = 20; ///< that one input may take
constexpr std::size_t most_bytes = 1 << 16;

char under_way[128] = ""; ///< what is printed when the process dies

void tell_what_was_under_way() {
  [[maybe_unused]] const auto n = ::write(STDERR_FILENO, under_way, std::strlen(under_way));
}

void die(int signal) {
  tell_what_was_under_way();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct options {
  std::uint64_t seed = 1, rounds = 1000;
  std::int64_t only = -1;
  std::vector<std::string> corpus, words;
};

std::string content_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  if (!in)
    throw std::runtime_error(path + " cannot be read");
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

/// The values of a libFuzzer dictionary: a line each, in quotes; \\, \" and \xNN are understood.
std::vector<std::string> words_in(const std::string& path) {
  std::vector<std::string> words;
  std::istringstream lines{content_of(path)};
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find('"'), end = line.rfind('"');
    if (line.starts_with('#') || begin == end)
      continue;
    std::string word;
    for (auto i = begin + 1; i < end; ++i) {
      if (line[i] != '\\')
        word += line[i];
      else if (line[++i] == 'x')
        word += static_cast<char>(std::stoi(line.substr(++i, 2), nullptr, 16)), ++i;
      else
        word += line[i];
    }
    words.push_back(word);
  }
  return words;
}

options read_arguments(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (!name.starts_with("--")) {
      o.corpus.push_back(content_of(name));
      continue;
    }
    if (++i == argc)
      throw std::runtime_error(name + " wants a value");
    if (name == "--seed")
      o.seed = std::stoull(argv[i]);
    else if (name == "--rounds")
      o.rounds = std::stoull(argv[i]);
    else if (name == "--only")
      o.only = std::stoll(argv[i]);
    else if (name == "--words")
      o.words = words_in(argv[i]);
    else
      throw std::runtime_error("there is no option " + name);
  }
  if (o.corpus.empty())
    throw std::runtime_error("name at least one file to start from");
  return o;
}

/// A file of the corpus with one to eight changes.
class mutation {
public:
  mutation(const options& o, std::uint64_t round) : options_(o), random_(o.seed * 0x9e3779b97f4a7c15 + round) {}

  std::string make() {
    auto text = any(options_.corpus);
    for (auto changes = 1 + below(8); changes > 0; --changes)
      change(text);
    text.resize(std::min(text.size(), most_bytes));
    return text;
  }

private:
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  const std::string& any(const std::vector<std::string>& of) { return of[below(of.size())]; }
  /// A stretch of `text`, short ones more often.
  std::pair<std::size_t, std::size_t> stretch(const std::string& text) {
    const auto at = below(text.size() + 1);
    const auto longest = std::min(text.size() - at, std::size_t{1} << below(11));
    return {at, below(longest + 1)};
  }

  void change(std::string& text) {
    const auto [at, length] = stretch(text);
    switch (below(8)) {
      case 0: // one bit
        if (!text.empty())
          text[below(text.size())] ^= static_cast<char>(1U << below(8));
        break;
      case 1: // one byte
        if (!text.empty())
          text[below(text.size())] = static_cast<char>(below(256));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3: // again, somewhere
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      case 4: { // of another file
        const auto& other = any(options_.corpus);
        const auto [from, bytes] = stretch(other);
        text.replace(at, length, other.substr(from, bytes));
        break;
      }
      case 5: // many of one byte: numbers that never end, deep nesting
        text.insert(at, std::size_t{1} << below(13), text.empty() ? '[' : text[below(text.size())]);
        break;
      case 6: { // a number of a binary format
        constexpr std::uint64_t strange[] = {0, 0x7f, 0x80, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, ~0ULL};
        const auto value = strange[below(std::size(strange))] + below(3) - 1;
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        text.replace(at, std::min(length, sizeof value), std::string(bytes, 1 + below(sizeof value)));
        break;
      }
      default:
        text.replace(at, options_.words.empty() || below(2) ? 0 : length,
                     options_.words.empty() ? std::string(1, static_cast<char>(below(256))) : any(options_.words));
    }
  }

  const options& options_;
  std::mt19937_64 random_;
};

void feed(const std::string& what, const std::string& input) {
  std::snprintf(under_way, sizeof under_way, "\nfuzz: this was %s\n", what.c_str());
  ::alarm(longest_seconds);
  // Of its exact size on the heap, so that a sanitizer sees a step beyond the end.
  const std::vector<std::uint8_t> exact(input.begin(), input.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  ::alarm(0);
}

} // namespace

int main(int argc, char** argv) try {
  const auto o = read_arguments(argc, argv);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  __sanitizer_set_death_callback(tell_what_was_under_way);
#else
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    std::signal(signal, die);
#endif
  std::signal(SIGABRT, die);
  std::signal(SIGALRM, die);
  std::printf("%zu files, %llu rounds, seed %llu\n", o.corpus.size(), static_cast<unsigned long long>(o.rounds),
              static_cast<unsigned long long>(o.seed));
  std::fflush(stdout);
  const auto round_of = [&](std::uint64_t round) {
    feed("--seed " + std::to_string(o.seed) + " --only " + std::to_string(round), mutation{o, round}.make());
  };
  if (o.only >= 0) {
    round_of(static_cast<std::uint64_t>(o.only));
    return 0;
  }
  for (std::size_t i = 0; i < o.corpus.size(); ++i)
    feed("file " + std::to_string(i + 1) + ", unchanged", o.corpus[i]);
  for (std::uint64_t round = 0; round < o.rounds; ++round)
    round_of(round);
  return 0;
} catch (const std::exception& e) {
  tell_what_was_under_way();
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
