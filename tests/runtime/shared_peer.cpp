// The other process in tests of shared memory: a line in, a line out, until the input ends.
#include "runtime/shared_import.hpp"
#include "runtime/shared_memory.hpp"

#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include <unistd.h>

using namespace hyperframes;

namespace {

shared_handle read_handle(std::istream& in) {
  shared_handle h;
  in >> h.segment.process >> h.segment.descriptor >> h.segment.nonce[0] >> h.segment.nonce[1]
    >> h.slot >> h.generation >> h.bytes;
  return h;
}

std::size_t sum(const buffer_ref& b) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < b.size(); ++i)
    total += std::to_integer<std::size_t>(b.data()[i]);
  return total;
}

/// Kilobytes of shared memory that are in this process's page tables.
std::string resident_shared() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;)
    if (word == "RssShmem:") {
      status >> word;
      return word;
    }
  return "?";
}

class peer {
public:
  std::string answer(const std::string& line) {
    std::istringstream in{line};
    std::string command;
    in >> command;
    std::ostringstream out;
    if (command == "open") {
      auto opened = importer_.open(read_handle(in), [this] { ++released_; });
      if (!opened)
        return "refused " + opened.error().to_string();
      borrowed_[++last_] = std::move(*opened);
      out << last_;
    } else if (command == "sum") {
      out << sum(borrowed_.at(number(in)));
    } else if (command == "byte") {
      const auto& b = borrowed_.at(number(in));
      out << std::to_integer<int>(b.data()[number(in)]);
    } else if (command == "release") {
      borrowed_.erase(number(in));
      out << released_;
    } else if (command == "forget") {
      importer_.forget(static_cast<std::int32_t>(number(in)));
      out << importer_.now().pools;
    } else if (command == "state") {
      out << importer_.now().pools << ' ' << importer_.now().buffers << ' ' << released_;
    } else if (command == "resident") {
      out << resident_shared();
    } else if (command == "own") { // slots, bytes
      const auto slots = number(in);
      pool_ = buffer_pool{slots, number(in), nullptr, shared_backing()};
      out << "owned";
    } else if (command == "fill") { // value
      auto b = pool_.acquire();
      std::memset(b.data(), static_cast<int>(number(in)), b.size());
      const auto h = handle_of(b);
      own_[++last_] = std::move(b);
      out << last_ << ' ' << h->segment.process << ' ' << h->segment.descriptor << ' '
          << h->segment.nonce[0] << ' ' << h->segment.nonce[1] << ' ' << h->slot << ' '
          << h->generation << ' ' << h->bytes;
    } else if (command == "drop") {
      own_.erase(number(in));
      out << pool_.in_use();
    } else {
      out << "unknown";
    }
    return out.str();
  }

private:
  static std::size_t number(std::istream& in) {
    std::size_t n = 0;
    in >> n;
    return n;
  }

  shared_importer importer_;
  std::map<std::size_t, buffer_ref> borrowed_, own_;
  buffer_pool pool_;
  std::size_t last_ = 0;
  std::size_t released_ = 0;
};

} // namespace

int main() {
  peer p;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << p.answer(line) << std::endl;
}
