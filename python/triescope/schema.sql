PRAGMA application_id = 1414742864;
PRAGMA user_version = 1;
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  created_utc TEXT DEFAULT '',
  model_json TEXT DEFAULT '',
  method TEXT NOT NULL,
  method_title TEXT DEFAULT '',
  kind TEXT DEFAULT 'text' CHECK (kind IN ('text', 'drafts', 'beams')),
  width INTEGER DEFAULT 1 CHECK (width BETWEEN 1 AND 268435456),
  settings_json TEXT DEFAULT '',
  setting_titles_json TEXT DEFAULT '',
  setting_words_json TEXT DEFAULT '',
  seed INTEGER DEFAULT 0,
  versions_json TEXT DEFAULT '',
  prompt_text TEXT DEFAULT '',
  prompt_tokens TEXT DEFAULT '[]',
  max_new_tokens INTEGER DEFAULT 0 CHECK (max_new_tokens BETWEEN 0 AND 100000000),
  kv_bytes_per_token INTEGER DEFAULT 0,
  sliding_window INTEGER DEFAULT 0 CHECK (sliding_window BETWEEN 0 AND 100000000),
  kv_policy TEXT DEFAULT '',
  timed_while_drawing INTEGER DEFAULT 0 CHECK (timed_while_drawing BETWEEN 0 AND 1),
  conversation_json TEXT DEFAULT '',
  status TEXT DEFAULT 'done' CHECK (status IN ('running', 'done', 'stopped', 'failed')),
  message TEXT DEFAULT '',
  recorder TEXT DEFAULT '');
CREATE TABLE program (
  id INTEGER PRIMARY KEY,
  name TEXT DEFAULT '',
  version TEXT DEFAULT '',
  command TEXT DEFAULT '');
CREATE TABLE drafter (
  id INTEGER PRIMARY KEY,
  drafter INTEGER,
  name TEXT NOT NULL,
  title TEXT DEFAULT '',
  kind TEXT DEFAULT 'other' CHECK (kind IN ('model', 'head', 'text', 'other')));
CREATE TABLE piece (
  id INTEGER PRIMARY KEY,
  token INTEGER NOT NULL CHECK (token BETWEEN 0 AND 268435456),
  bytes BLOB NOT NULL);
CREATE TABLE step (
  id INTEGER PRIMARY KEY,
  step INTEGER NOT NULL,
  forward_rows INTEGER DEFAULT 0 CHECK (forward_rows BETWEEN 0 AND 100000000),
  drafted INTEGER DEFAULT 0 CHECK (drafted BETWEEN 0 AND 100000000),
  accepted INTEGER DEFAULT 0 CHECK (accepted BETWEEN 0 AND 100000000),
  emitted INTEGER DEFAULT 0 CHECK (emitted BETWEEN 0 AND 100000000),
  frontier INTEGER DEFAULT 0 CHECK (frontier BETWEEN 0 AND 100000000));
CREATE TABLE node (
  id INTEGER PRIMARY KEY,
  node INTEGER,
  parent INTEGER NOT NULL,
  token INTEGER DEFAULT -1 CHECK (token BETWEEN -1 AND 268435456),
  depth INTEGER,
  logprob REAL,
  score REAL,
  q REAL DEFAULT 1,
  source TEXT DEFAULT 'prompt' CHECK (source IN ('prompt', 'greedy', 'sampled', 'beam', 'draft', 'bonus', 'corrected', 'forced')),
  tick INTEGER NOT NULL,
  role TEXT DEFAULT 'candidate' CHECK (role IN ('candidate', 'probe')),
  drafter INTEGER);
CREATE TABLE node_score (
  id INTEGER PRIMARY KEY,
  node INTEGER NOT NULL,
  logprob REAL,
  score REAL,
  tick INTEGER NOT NULL);
CREATE TABLE input (
  id INTEGER PRIMARY KEY,
  step INTEGER NOT NULL,
  row INTEGER DEFAULT 0 CHECK (row BETWEEN 0 AND 100000000),
  node INTEGER NOT NULL,
  position INTEGER DEFAULT 0 CHECK (position BETWEEN 0 AND 100000000),
  slot INTEGER DEFAULT 0 CHECK (slot BETWEEN -1 AND 4194304),
  naive_position INTEGER,
  whose TEXT DEFAULT 'target' CHECK (whose IN ('target', 'draft', 'head')),
  forward INTEGER);
CREATE TABLE candidate (
  id INTEGER PRIMARY KEY,
  tick INTEGER NOT NULL,
  node INTEGER NOT NULL,
  rank INTEGER DEFAULT 0 CHECK (rank BETWEEN 0 AND 268435456),
  token INTEGER NOT NULL CHECK (token BETWEEN 0 AND 268435456),
  logprob REAL,
  chosen INTEGER DEFAULT 0,
  whose TEXT DEFAULT 'target' CHECK (whose IN ('target', 'draft', 'head')));
CREATE TABLE stage (
  id INTEGER PRIMARY KEY,
  tick INTEGER NOT NULL,
  node INTEGER NOT NULL,
  stage TEXT NOT NULL CHECK (stage IN ('processors', 'temperature', 'top_h', 'top_k', 'top_p', 'min_p', 'typical_p', 'epsilon_cutoff', 'eta_cutoff', 'proposal', 'drawn')),
  token INTEGER NOT NULL CHECK (token BETWEEN 0 AND 268435456),
  p REAL DEFAULT 0,
  at REAL);
CREATE TABLE verdict (
  id INTEGER PRIMARY KEY,
  tick INTEGER NOT NULL,
  node INTEGER NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('none', 'accepted', 'rejected', 'kept', 'pruned', 'finished', 'bonus', 'corrected', 'emitted', 'withdrawn')),
  p REAL DEFAULT -1,
  q REAL DEFAULT -1,
  u REAL DEFAULT -1,
  rank INTEGER DEFAULT -1 CHECK (rank BETWEEN -1 AND 268435456),
  score REAL DEFAULT 0,
  gap REAL DEFAULT 0,
  replacement INTEGER DEFAULT -1 CHECK (replacement BETWEEN -1 AND 268435456),
  reason TEXT DEFAULT 'none' CHECK (reason IN ('none', 'is_argmax', 'not_argmax', 'draw_is_this', 'draw_is_another', 'below_ratio', 'not_below_ratio', 'block_reaches', 'block_goes_on', 'block_falls_short', 'below_rest', 'not_below_rest', 'typical', 'not_typical', 'typical_off_path', 'in_top_k', 'not_in_top_k', 'top_k_off_path', 'parent_refused', 'after_end', 'not_reached', 'argmax', 'gumbel_argmax', 'drawn', 'drawn_from_residual', 'drawn_from_block', 'drawn_from_rest', 'drawn_from_typical', 'eos', 'max_tokens', 'beam_eos', 'beam_max_tokens', 'better_finished', 'pruned_relative', 'pruned_absolute', 'pruned_local', 'beam_kept', 'beam_kept_of_all', 'none_left_at_max_tokens', 'search_over', 'beam_outdone', 'forced', 'branched', 'no_live_text', 'draft_outdone')),
  value REAL DEFAULT 0,
  threshold REAL DEFAULT 0,
  count INTEGER DEFAULT 0 CHECK (count BETWEEN 0 AND 2147483647),
  why TEXT DEFAULT '');
CREATE TABLE frontier (
  id INTEGER PRIMARY KEY,
  step INTEGER NOT NULL,
  rank INTEGER DEFAULT 0 CHECK (rank BETWEEN 0 AND 268435456),
  node INTEGER NOT NULL,
  score REAL);
CREATE TABLE slot (
  id INTEGER PRIMARY KEY,
  tick INTEGER NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('alloc', 'reuse', 'garbage', 'free', 'move')),
  slot INTEGER NOT NULL CHECK (slot BETWEEN 0 AND 4194304),
  node INTEGER NOT NULL,
  from_slot INTEGER DEFAULT -1 CHECK (from_slot BETWEEN -1 AND 4194304),
  whose TEXT DEFAULT 'target' CHECK (whose IN ('target', 'draft', 'head')));
CREATE TABLE memory (
  id INTEGER PRIMARY KEY,
  step INTEGER NOT NULL,
  live INTEGER DEFAULT 0 CHECK (live BETWEEN 0 AND 2147483647),
  garbage INTEGER DEFAULT 0 CHECK (garbage BETWEEN 0 AND 2147483647),
  reserved INTEGER DEFAULT 0 CHECK (reserved BETWEEN 0 AND 2147483647),
  greedy INTEGER DEFAULT 0 CHECK (greedy BETWEEN 0 AND 2147483647),
  batch_beam INTEGER DEFAULT 0 CHECK (batch_beam BETWEEN 0 AND 2147483647),
  moved_bytes INTEGER DEFAULT 0,
  device_allocated_bytes INTEGER DEFAULT -1,
  device_reserved_bytes INTEGER DEFAULT -1,
  whose TEXT DEFAULT 'target' CHECK (whose IN ('target', 'draft', 'head')));
CREATE TABLE sequence (
  id INTEGER PRIMARY KEY,
  tick INTEGER NOT NULL,
  node INTEGER,
  rank INTEGER DEFAULT -1 CHECK (rank BETWEEN -1 AND 268435456),
  score REAL,
  finish TEXT DEFAULT '',
  tokens TEXT DEFAULT '[]');
CREATE TABLE seen (
  id INTEGER PRIMARY KEY,
  step INTEGER NOT NULL,
  row INTEGER NOT NULL CHECK (row BETWEEN 0 AND 100000000),
  whose TEXT DEFAULT 'target' CHECK (whose IN ('target', 'draft', 'head')),
  forward INTEGER,
  slots TEXT NOT NULL);
CREATE TABLE expert (
  id INTEGER PRIMARY KEY,
  tick INTEGER NOT NULL,
  node INTEGER NOT NULL,
  layer INTEGER NOT NULL CHECK (layer BETWEEN 0 AND 65536),
  experts TEXT NOT NULL,
  weights TEXT DEFAULT '[]');
CREATE TABLE metric (
  id INTEGER PRIMARY KEY,
  tick INTEGER NOT NULL,
  node INTEGER,
  name TEXT NOT NULL,
  value REAL);
CREATE TABLE log (
  id INTEGER PRIMARY KEY,
  tick INTEGER DEFAULT 0,
  level TEXT DEFAULT 'info' CHECK (level IN ('debug', 'info', 'warning', 'error')),
  text TEXT DEFAULT '');
CREATE TABLE phase (
  id INTEGER PRIMARY KEY,
  tick INTEGER NOT NULL,
  start_us INTEGER DEFAULT 0,
  duration_us INTEGER DEFAULT 0);
CREATE TABLE bookmark (
  id INTEGER PRIMARY KEY,
  tick INTEGER DEFAULT 0,
  note TEXT DEFAULT '');
CREATE VIEW decode_step AS SELECT * FROM step WHERE step > 0;
CREATE VIEW named_node AS SELECT n.node, n.parent, n.token, CAST(t.bytes AS TEXT) AS text, n.depth, n.logprob, n.score, n.q, n.source, d.name AS drafter, n.role, n.tick / 5 AS step, CASE n.tick % 5 WHEN 0 THEN 'draft' WHEN 1 THEN 'forward' WHEN 2 THEN 'accept' WHEN 3 THEN 'commit' ELSE 'observe' END AS phase FROM node AS n LEFT JOIN (SELECT min(id), token, bytes FROM piece GROUP BY token) AS t ON t.token = n.token LEFT JOIN drafter AS d ON d.drafter = n.drafter;
CREATE VIEW named_verdict AS SELECT v.tick / 5 AS step, CASE v.tick % 5 WHEN 0 THEN 'draft' WHEN 1 THEN 'forward' WHEN 2 THEN 'accept' WHEN 3 THEN 'commit' ELSE 'observe' END AS phase, v.node, n.parent, n.depth, n.token, n.text, n.source, n.drafter, v.verdict, v.reason, v.p, v.q, v.u, v.rank, v.score, v.gap, v.replacement, v.value, v.threshold, v.count, v.why FROM verdict AS v LEFT JOIN named_node AS n ON n.node = v.node;
