-- Requests distinct keys. With -- COUNT, the step is chosen so that every key is requested before any is repeated.
-- With -- fresh FIRST, each key from FIRST onward is requested once.
local head, tail, count, at, step = '', '', 1, 0, 7919

-- Reports when the round begins, because starting wrk can take a long time on a busy machine.
function setup()
  io.write('BEGIN\n')
  io.stdout:flush()
end

function init(args)
  if args[1] == 'fresh' then
    -- All seven-digit keys.
    count, step, at = 10000000, 1, tonumber(args[2]) - 1
  else
    count = tonumber(args[1])
  end
  local whole = wrk.format('GET', wrk.path .. '@KEY@')
  local first, last = whole:find('@KEY@', 1, true)
  head, tail = whole:sub(1, first - 1), whole:sub(last + 1)
end

function request()
  at = (at + step) % count
  return head .. string.format('%07d', at) .. tail
end

done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    'BENCH {"requests":%d,"bytes":%d,"durationUs":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}\n',
    summary.requests, summary.bytes, summary.duration, e.connect, e.read, e.write, e.timeout, e.status))
end
