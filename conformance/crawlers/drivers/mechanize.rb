# Gets the pages with Mechanize for Ruby.
require "mechanize"

agent = Mechanize.new
agent.robots = true
ARGV.each do |url|
  agent.get(url)
rescue StandardError => error
  warn error
end
