-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- For Wireshark and tshark: reads what fabricbed sends beside RoCEv2, which is STrack, the assembled transport, and headers
-- whose payload was trimmed. docs/live.md tells how to load it, bpf/abi/wire.h has the formats. RoCEv2's own packets go to
-- Wireshark's dissector, which had the UDP port before.

local UDP_PORT = 4791
local CUT_SHORT = "[not all of it was captured]"
local BTH_BYTES, ICRC_BYTES, QP_FIRST = 12, 4, 2

-- The schemes of recovery by their numbers: RECOVERIES in userspace/transport/recovery/recovery.h.
local RECOVERIES = {[0] = "coding", "dupack", "subflow-dupack", "go-back-n", "trim", "return", "sack"}
local HAS_BITMAP = {trim = true, ["return"] = true, sack = true, unknown = true}

local ports = DissectorTable.get("udp.port")
local rocev2 = ports:get_dissector(UDP_PORT) or Dissector.get("data")

-- ---- what all packets have

local common = Proto("fabricbed", "Fabricbed")

common.prefs.trimmed = Pref.uint("DSCP of trimmed headers", 49, "switch.trim.dscp: of data whose payload was cut off")
common.prefs.returned = Pref.uint("DSCP of returned headers", 50, "switch.trim.return_dscp: of such headers on the way back")

local expert_trimmed = ProtoExpert.new("fabricbed.trimmed", "payload cut off by a switch",
	expert.group.SEQUENCE, expert.severity.NOTE)
local expert_returned = ProtoExpert.new("fabricbed.returned", "returned to its sender",
	expert.group.SEQUENCE, expert.severity.NOTE)
local expert_short = ProtoExpert.new("fabricbed.short", "shorter than its headers",
	expert.group.MALFORMED, expert.severity.ERROR)
common.experts = {expert_trimmed, expert_returned, expert_short}

-- Those of the BTH are named as in Wireshark's dissector, so that a filter finds all transports.
local fields = {
	opcode = ProtoField.uint8("infiniband.bth.opcode", "Opcode", base.DEC),
	qp = ProtoField.uint24("infiniband.bth.destqp", "Destination Queue Pair", base.HEX),
	ack = ProtoField.bool("infiniband.bth.a", "Acknowledge Request", 8, nil, 0x80),
	psn = ProtoField.uint24("infiniband.bth.psn", "Packet Sequence Number", base.DEC),
	flow = ProtoField.uint32("fabricbed.flow", "Flow", base.DEC, nil, nil, "as in flows.csv"),
	payload = ProtoField.uint32("fabricbed.payload", "Payload bytes", base.DEC),
}
common.fields = fields

local dscp_of_ip = {Field.new("ip.dsfield.dscp"), Field.new("ipv6.tclass.dscp")}

local function read_dscp()
	for _, field in ipairs(dscp_of_ip) do
		local found = {field()}

		if #found > 0 then return found[#found].value end
	end
end

-- Words for what became of a data packet's payload, if a switch cut it off; nil otherwise.
local function read_fate()
	local dscp = read_dscp()

	if dscp == common.prefs.trimmed then return " [payload cut off by a switch]" end
	if dscp == common.prefs.returned then return " [payload cut off by a switch, returned to its sender]" end
end

local function tell_fate(item)
	item:add_proto_expert_info(expert_trimmed)
	if read_dscp() == common.prefs.returned then item:add_proto_expert_info(expert_returned) end
end

-- The bits that are set, the lowest being number `first`: "14-16, 19".
local function set_bits(range, first)
	local runs, from = {}, nil

	for i = 0, 64 do
		local set = i < 64 and range:bitfield(63 - i, 1) == 1

		if set and not from then
			from = i
		elseif from and not set then
			runs[#runs + 1] = from == i - 1 and ("%d"):format(first + from)
				or ("%d-%d"):format(first + from, first + i - 1)
			from = nil
		end
	end
	return #runs > 0 and table.concat(runs, ", ") or "none"
end

-- ---- reading what follows the BTH

-- A reader of one packet. Fields beyond its end are left out: trimming leaves the first 16 bytes.
local Reader = {}
Reader.__index = Reader

-- Adds a field to the tree; returns its value, if that has at most four bytes, and shows it in the summary under `word`.
function Reader:number(field, at, bytes, word)
	if at + bytes > self.range:len() then return nil end
	local range = self.range(at, bytes)
	local value = bytes <= 4 and range:uint() or nil

	self.tree:add(field, range)
	if word then self.summary = ("%s %s=%d"):format(self.summary, word, value) end
	return value
end

-- Flags of one byte: rows {field, mask, word of the summary}.
function Reader:flags(at, rows)
	if at >= self.range:len() then return end
	local range = self.range(at, 1)

	for _, row in ipairs(rows) do
		self.tree:add(row[1], range)
		if math.floor(range:uint() / row[2]) % 2 == 1 then self.summary = self.summary .. " " .. row[3] end
	end
end

function Reader:bitmap(field, arrived, at, first)
	if at + 8 > self.range:len() then return end
	local range = self.range(at, 8)

	self.tree:add(field, range)
	self.tree:add(arrived, range, set_bits(range, first))
end

-- ---- STrack

local strack = Proto("strack", "STrack")
local s = {
	sent = ProtoField.uint64("strack.sent_ps", "Sent, by the sender's clock (ps)", base.DEC),
	path = ProtoField.uint16("strack.path", "Path", base.DEC),
	again = ProtoField.bool("strack.again", "Sent again", 8, nil, 0x04),
	ce = ProtoField.bool("strack.ce", "The packet carried CE", 8, nil, 0x01),
	probe = ProtoField.bool("strack.probe", "Answers a probe", 8, nil, 0x02),
	trimmed = ProtoField.bool("strack.trimmed", "The packet came without its payload", 8, nil, 0x08),
	epsn = ProtoField.uint32("strack.epsn", "Expected PSN", base.DEC),
	base = ProtoField.uint32("strack.base_psn", "PSN of the bitmap's lowest bit", base.DEC),
	bitmap = ProtoField.uint64("strack.bitmap", "Bitmap", base.HEX),
	arrived = ProtoField.string("strack.arrived", "Arrived, by the bitmap"),
	bytes = ProtoField.uint64("strack.bytes_recvd", "Payload bytes received", base.DEC),
	ooo = ProtoField.uint32("strack.ooo_packets", "Packets beyond the expected one", base.DEC),
}
strack.fields = s

local function strack_data(r)
	r:number(s.sent, 0, 8)
	r:number(s.path, 8, 2, "path")
	r:flags(10, {{s.again, 0x04, "again"}})
end

local function strack_sack(r)
	r:number(s.epsn, 0, 4, "epsn")
	local first = r:number(s.base, 4, 4)
	r:bitmap(s.bitmap, s.arrived, 8, first)
	r:number(s.bytes, 16, 8)
	r:number(s.ooo, 24, 4, "ooo")
	r:number(s.path, 28, 2, "path")
	r:flags(30, {{s.ce, 0x01, "CE"}, {s.probe, 0x02, "probe"}, {s.trimmed, 0x08, "trimmed"}})
	r:number(s.sent, 32, 8)
end

local function strack_probe(r)
	r:number(s.sent, 0, 8)
	r:number(s.path, 8, 2, "path")
	r:number(s.base, 12, 4, "base")
end

-- ---- the assembled transport: fields are named as its scheme of recovery uses them

local assembled = Proto("assembled", "Assembled transport")
local a = {
	sent = ProtoField.uint64("assembled.sent_ps", "Sent, by the sender's clock (ps)", base.DEC),
	path = ProtoField.uint16("assembled.path", "Path", base.DEC),
	subflow = ProtoField.uint16("assembled.subflow", "Subflow", base.DEC),
	recovery = ProtoField.uint8("assembled.recovery", "Recovery", base.DEC, RECOVERIES),
	message = ProtoField.uint32("assembled.message", "Message", base.DEC),
	number = ProtoField.uint32("assembled.number", "Packet, of all messages", base.DEC),
	symbol = ProtoField.uint32("assembled.symbol", "Symbol, of its message", base.DEC),
	expected = ProtoField.uint32("assembled.expected", "Expected PSN, of its subflow", base.DEC),
	complete = ProtoField.uint32("assembled.complete", "Messages complete", base.DEC),
	beyond = ProtoField.uint32("assembled.beyond", "Packets beyond the expected one", base.DEC),
	symbols = ProtoField.uint32("assembled.symbols", "Symbols of the message that is next", base.DEC),
	base = ProtoField.uint32("assembled.base", "PSN of the bitmap's lowest bit", base.DEC),
	bitmap = ProtoField.uint64("assembled.bitmap", "Bitmap", base.HEX),
	arrived = ProtoField.string("assembled.arrived", "Arrived, by the bitmap"),
	hops = ProtoField.uint8("assembled.hops", "Switches that the packet crossed", base.DEC),
	again = ProtoField.bool("assembled.again", "A repeat, or the answer to one", 8, nil, 0x04),
	ce = ProtoField.bool("assembled.ce", "The packet carried CE", 8, nil, 0x01),
	trimmed = ProtoField.bool("assembled.trimmed", "The packet came without its payload", 8, nil, 0x08),
	nak = ProtoField.bool("assembled.nak", "All from the expected PSN on is wanted again", 8, nil, 0x10),
}
assembled.fields = a

-- Which scheme it is, to be read first: it says what the others are. Of trimmed headers it may be missing.
local function recovery_of(r, at)
	local number = r:number(a.recovery, at, 1)

	if number then r.summary = r.summary .. " " .. (RECOVERIES[number] or "recovery " .. number) end
	return number and (RECOVERIES[number] or "unknown")
end

local function assembled_data(r)
	local recovery = recovery_of(r, 21)

	r:number(a.sent, 0, 8)
	if recovery == "coding" then
		r:number(a.symbol, 8, 4, "symbol")
	else
		r:number(a.number, 8, 4)
	end
	r:number(a.path, 12, 2, "path")
	r:number(a.subflow, 14, 2)
	r:number(a.message, 16, 4, "message")
	r:flags(20, {{a.again, 0x04, "again"}})
end

local function assembled_answer(r)
	local recovery = recovery_of(r, 33)

	r:number(a.sent, 0, 8)
	if recovery == "coding" then
		r:number(a.complete, 8, 4, "complete")
		r:number(a.symbols, 12, 4, "symbols")
		r:number(a.message, 16, 4, "message")
	else
		r:number(a.expected, 8, 4, "expected")
		if recovery ~= "go-back-n" then r:number(a.beyond, 12, 4, "beyond") end
		if HAS_BITMAP[recovery] then r:bitmap(a.bitmap, a.arrived, 20, r:number(a.base, 16, 4)) end
	end
	r:number(a.path, 28, 2, "path")
	r:number(a.subflow, 30, 2)
	r:flags(32, {{a.ce, 0x01, "CE"}, {a.again, 0x04, "again"}, {a.trimmed, 0x08, "trimmed"}, {a.nak, 0x10, "NAK"}})
	r:number(a.hops, 34, 1)
end

-- ---- packets

-- By opcode: the protocol, its short name, the packet's name, the bytes behind the BTH, their reader; whether it is data.
local kinds = {
	[0xc0] = {strack, "STrack", "DATA", 16, strack_data, true},
	[0xc1] = {strack, "STrack", "SACK", 40, strack_sack},
	[0xc2] = {strack, "STrack", "PROBE", 16, strack_probe},
	[0xc4] = {assembled, "Assembled", "DATA", 24, assembled_data, true},
	[0xc5] = {assembled, "Assembled", "ANSWER", 40, assembled_answer},
}

local function add_bth(tvb, tree, name)
	local branch = tree:add(common, tvb(0, BTH_BYTES), "Base Transport Header")
	local qp = tvb(5, 3):uint()
	local flow = math.floor((qp - QP_FIRST) / 2)

	branch:add(fields.opcode, tvb(0, 1)):append_text(" (" .. name .. ")")
	branch:add(fields.qp, tvb(5, 3))
	branch:add(fields.ack, tvb(8, 1))
	branch:add(fields.psn, tvb(9, 3))
	branch:add(fields.flow, tvb(5, 3), flow):set_generated()
	return flow, tvb(9, 3):uint()
end

-- Needs the whole BTH.
local function dissect(kind, tvb, pinfo, tree)
	local proto, title, name, bytes, read, is_data = table.unpack(kind, 1, 6)
	local flow, psn = add_bth(tvb, tree, title .. " " .. name)
	local behind = tvb:reported_len() - BTH_BYTES
	local there = math.min(bytes, tvb:len() - BTH_BYTES)
	local r = setmetatable({range = tvb(BTH_BYTES, there), summary = ""}, Reader)
	local fate = is_data and read_fate()

	r.tree = tree:add(proto, r.range, ("%s, %s"):format(proto.description, name))
	read(r)
	if fate then
		tell_fate(r.tree)
	elseif behind < bytes then
		r.tree:add_proto_expert_info(expert_short)
	end
	if is_data and behind > bytes + ICRC_BYTES then
		r.tree:add(fields.payload, r.range, behind - bytes - ICRC_BYTES)
	end
	pinfo.cols.info = ("%s flow=%d psn=%d%s%s"):format(name, flow, psn, r.summary, fate or "")
end

-- Bytes of RoCEv2's headers behind the BTH, where fabricbed sends them; of others the most.
local ROCEV2_BYTES = setmetatable({[0x06] = 16, [0x07] = 0, [0x08] = 0, [0x0a] = 16, [0x11] = 4, [0x81] = 0},
	{__index = function() return 28 end})

-- RoCEv2's packets. Of trimmed data Wireshark takes what is left for payload and ICRC. What its dissector throws at headers
-- that were not captured would use up Lua's stack: a hundred such packets, and none is read any more.
local function pass_on(opcode, tvb, pinfo, tree)
	if tvb:len() < tvb:reported_len() and tvb:len() < BTH_BYTES + ROCEV2_BYTES[opcode] then
		pinfo.cols.protocol = "RRoCE"
		pinfo.cols.info = CUT_SHORT
		return tvb:len()
	end

	local read = rocev2:call(tvb, pinfo, tree)
	local is_write = opcode and opcode >= 0x06 and opcode <= 0x0b
	local fate = is_write and read_fate()

	if fate then
		tell_fate(tree:add(common, tvb(), "RoCEv2, headers alone"))
		pinfo.cols.info:append(fate)
	end
	return read
end

function common.dissector(tvb, pinfo, tree)
	local opcode = tvb:len() > 0 and tvb(0, 1):uint()
	local kind = kinds[opcode]

	if not kind then return pass_on(opcode, tvb, pinfo, tree) end
	pinfo.cols.protocol = kind[2]
	if tvb:len() > BTH_BYTES then
		dissect(kind, tvb, pinfo, tree)
	else
		pinfo.cols.info = kind[3] .. " " .. CUT_SHORT
	end
	return tvb:len()
end

ports:add(UDP_PORT, common)
