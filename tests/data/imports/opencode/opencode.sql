CREATE TABLE `session` (
      `id` text PRIMARY KEY,
      `project_id` text NOT NULL,
      `workspace_id` text,
      `parent_id` text,
      `slug` text NOT NULL,
      `directory` text NOT NULL,
      `path` text,
      `title` text NOT NULL,
      `version` text NOT NULL,
      `share_url` text,
      `summary_additions` integer,
      `summary_deletions` integer,
      `summary_files` integer,
      `summary_diffs` text,
      `metadata` text,
      `cost` real DEFAULT 0 NOT NULL,
      `tokens_input` integer DEFAULT 0 NOT NULL,
      `tokens_output` integer DEFAULT 0 NOT NULL,
      `tokens_reasoning` integer DEFAULT 0 NOT NULL,
      `tokens_cache_read` integer DEFAULT 0 NOT NULL,
      `tokens_cache_write` integer DEFAULT 0 NOT NULL,
      `revert` text,
      `permission` text,
      `agent` text,
      `model` text,
      `time_created` integer NOT NULL,
      `time_updated` integer NOT NULL,
      `time_compacting` integer,
      `time_archived` integer,
      CONSTRAINT `fk_session_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
    );
CREATE TABLE `message` (
      `id` text PRIMARY KEY,
      `session_id` text NOT NULL,
      `time_created` integer NOT NULL,
      `time_updated` integer NOT NULL,
      `data` text NOT NULL,
      CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
    );
CREATE TABLE `part` (
      `id` text PRIMARY KEY,
      `message_id` text NOT NULL,
      `session_id` text NOT NULL,
      `time_created` integer NOT NULL,
      `time_updated` integer NOT NULL,
      `data` text NOT NULL,
      CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
    );
INSERT INTO session VALUES ('ses_e17bfdf6cffe624DGQ5X5NCOV2', 'ddf0c3bc884338293428b5d74928838efb6db269', NULL, NULL, 'eager-rocket', '/home/ada/shop', '', 'Decision: the order mails go through Redis streams.', '1.18.33', NULL, 0, 0, 0, NULL, NULL, 0.0, 400, 80, 0, 0, 0, NULL, '[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]', 'build', '{"id":"loopback","providerID":"loop","variant":"default"}', 1794897879187, 1794898545450, NULL, NULL);
INSERT INTO message VALUES ('msg_1e8402388001nvbrPK0DqLNtWJ', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794897879944, 1794897888558, '{"role":"user","time":{"created":1794897879944},"agent":"build","model":{"providerID":"loop","modelID":"loopback"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_1e8402fa7001CaCJi2wOAdfDoQ', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794897883047, 1794897888219, '{"parentID":"msg_1e8402388001nvbrPK0DqLNtWJ","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/ada/shop","root":"/home/ada/shop"},"cost":0,"tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"loopback","providerID":"loop","time":{"created":1794897883047,"completed":1794897888217},"finish":"tool-calls"}');
INSERT INTO message VALUES ('msg_1e84043e30014yFonsevxI3Q9R', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794897888227, 1794897888866, '{"parentID":"msg_1e8402388001nvbrPK0DqLNtWJ","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/ada/shop","root":"/home/ada/shop"},"cost":0,"tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"loopback","providerID":"loop","time":{"created":1794897888227,"completed":1794897888864},"finish":"stop"}');
INSERT INTO message VALUES ('msg_1e84a18cb001kPIQgci9nxmfaD', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794898532555, 1794898545223, '{"role":"user","time":{"created":1794898532555},"agent":"build","model":{"providerID":"loop","modelID":"loopback"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_1e84a2f5e001PR5tLu25Jw66J0', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794898538334, 1794898545025, '{"parentID":"msg_1e84a18cb001kPIQgci9nxmfaD","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/ada/shop","root":"/home/ada/shop"},"cost":0,"tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"loopback","providerID":"loop","time":{"created":1794898538334,"completed":1794898545012},"finish":"tool-calls"}');
INSERT INTO message VALUES ('msg_1e84a498a0017bjsFfxTYykGeK', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794898545034, 1794898545411, '{"parentID":"msg_1e84a18cb001kPIQgci9nxmfaD","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/ada/shop","root":"/home/ada/shop"},"cost":0,"tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"loopback","providerID":"loop","time":{"created":1794898545034,"completed":1794898545398},"finish":"stop"}');
INSERT INTO part VALUES ('prt_1e84023e0001RifCynO5CeYdZI', 'msg_1e8402388001nvbrPK0DqLNtWJ', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794897882999, 1794897883001, '{"type":"text","text":"\"Which queue should send the order mails?\""}');
INSERT INTO part VALUES ('prt_1e8404247001cR7SivywmhH75o', 'msg_1e8402fa7001CaCJi2wOAdfDoQ', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794897887815, 1794897887817, '{"snapshot":"0d8a474fc67971fb3dd7616e26323d3066442555","type":"step-start"}');
INSERT INTO part VALUES ('prt_1e840424b001vblnrjwRKnwHXb', 'msg_1e8402fa7001CaCJi2wOAdfDoQ', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794897887819, 1794897887896, '{"type":"text","text":"Let me look.","time":{"start":1794897887819,"end":1794897887889}}');
INSERT INTO part VALUES ('prt_1e8404253001l7Bx6hjSWbmNpO', 'msg_1e8402fa7001CaCJi2wOAdfDoQ', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794897887831, 1794897887911, '{"type":"tool","tool":"glob","callID":"call_1","state":{"status":"error","input":{"pattern":"*"},"error":"ripgrep execution failed","time":{"start":1794897887869,"end":1794897887910}}}');
INSERT INTO part VALUES ('prt_1e8404349001NjnctlS3qnQk5k', 'msg_1e8402fa7001CaCJi2wOAdfDoQ', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794897888073, 1794897888075, '{"reason":"tool-calls","snapshot":"0d8a474fc67971fb3dd7616e26323d3066442555","type":"step-finish","tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES ('prt_1e840455f0014AVrhcgnrPpj5p', 'msg_1e84043e30014yFonsevxI3Q9R', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794897888608, 1794897888609, '{"snapshot":"0d8a474fc67971fb3dd7616e26323d3066442555","type":"step-start"}');
INSERT INTO part VALUES ('prt_1e840456600125Ff9zKb1ie0T5', 'msg_1e84043e30014yFonsevxI3Q9R', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794897888615, 1794897888624, '{"type":"text","text":"Decision: the order mails go through Redis streams.","time":{"start":1794897888614,"end":1794897888618}}');
INSERT INTO part VALUES ('prt_1e84045f8001cuhpQ2gzRNCXt8', 'msg_1e84043e30014yFonsevxI3Q9R', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794897888760, 1794897888767, '{"reason":"stop","snapshot":"0d8a474fc67971fb3dd7616e26323d3066442555","type":"step-finish","tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES ('prt_1e84a18cf001eMcmyy5o6CVQYP', 'msg_1e84a18cb001kPIQgci9nxmfaD', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794898538128, 1794898538147, '{"type":"text","text":"\"为什么是 Redis? 🧾 <b>\""}');
INSERT INTO part VALUES ('prt_1e84a47bb0016fNCNMDk8BDFhA', 'msg_1e84a2f5e001PR5tLu25Jw66J0', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794898544571, 1794898544575, '{"snapshot":"398ddb8df5120d96ddec57a34a358176f736fd11","type":"step-start"}');
INSERT INTO part VALUES ('prt_1e84a47ca0015iVXosVsYpkWoN', 'msg_1e84a2f5e001PR5tLu25Jw66J0', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794898544586, 1794898544701, '{"type":"text","text":"Let me look.","time":{"start":1794898544586,"end":1794898544699}}');
INSERT INTO part VALUES ('prt_1e84a47d9001LKg43vI1sSbXjM', 'msg_1e84a2f5e001PR5tLu25Jw66J0', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794898544601, 1794898544799, '{"type":"tool","tool":"glob","callID":"call_1","state":{"status":"error","input":{"pattern":"*"},"error":"ripgrep execution failed","time":{"start":1794898544661,"end":1794898544797}}}');
INSERT INTO part VALUES ('prt_1e84a492e001JIgMFGxEw4tkIo', 'msg_1e84a2f5e001PR5tLu25Jw66J0', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794898544942, 1794898544944, '{"reason":"tool-calls","snapshot":"398ddb8df5120d96ddec57a34a358176f736fd11","type":"step-finish","tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES ('prt_1e84a4a0e001zFMvpCzIodwWoT', 'msg_1e84a498a0017bjsFfxTYykGeK', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794898545167, 1794898545169, '{"snapshot":"398ddb8df5120d96ddec57a34a358176f736fd11","type":"step-start"}');
INSERT INTO part VALUES ('prt_1e84a4a130014sNDyehsSRzFlK', 'msg_1e84a498a0017bjsFfxTYykGeK', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794898545171, 1794898545181, '{"type":"text","text":"Decision: the order mails go through Redis streams.","time":{"start":1794898545171,"end":1794898545180}}');
INSERT INTO part VALUES ('prt_1e84a4aa6001euqm4kRoHazOE6', 'msg_1e84a498a0017bjsFfxTYykGeK', 'ses_e17bfdf6cffe624DGQ5X5NCOV2', 1794898545319, 1794898545320, '{"reason":"stop","snapshot":"398ddb8df5120d96ddec57a34a358176f736fd11","type":"step-finish","tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
