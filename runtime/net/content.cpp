#include "runtime/net/content.hpp"

namespace hyperframes {

content_place
content_sender::add(const buffer_ref& buffer, std::uint64_t offset, std::uint64_t bytes) {
  content_place place;
  if (!buffer.data() || bytes == 0)
    return place;
  place.bytes = bytes;
  if (loans_)
    if (auto handle = handle_of(buffer))
      if (const auto loan = loans_->lend(borrower_, buffer)) {
        place.how = content_place::way::shared;
        place.offset = offset;
        place.handle = *handle;
        place.loan = *loan;
        lent_.push_back(*loan);
        return place;
      }
  place.how = content_place::way::bulk;
  place.index = static_cast<std::uint32_t>(bulk_.size());
  bulk_.push_back({buffer, bytes, offset});
  return place;
}

void content_sender::take_back() {
  for (const auto loan : lent_)
    loans_->returned(borrower_, loan);
  lent_.clear();
}

content content_at(
  const content_place& place, const std::vector<bulk_part>& bulk, shared_importer& importer,
  const loan_returner& returned) {
  switch (place.how) {
    case content_place::way::none:
      break;
    case content_place::way::bulk:
      if (place.index < bulk.size() && bulk[place.index].bytes == place.bytes)
        return {bulk[place.index].buffer, 0, place.bytes};
      break;
    case content_place::way::shared:
      if (auto opened =
            importer.open(place.handle, [returned, loan = place.loan] { (*returned)(loan); });
          !opened)
        (*returned)(place.loan); // nothing of it is kept
      else if (place.offset <= opened->size() && place.bytes <= opened->size() - place.offset)
        return {*opened, place.offset, place.bytes};
      break;
  }
  return {};
}

} // namespace hyperframes
