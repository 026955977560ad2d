# Follows the links of the first page with Ruby Spider.
require "spider"

Spider.start_at(ARGV[0]) do |spider|
  spider.add_url_check { |url| url.start_with?(ARGV[0]) }
end
