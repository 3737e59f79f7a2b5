CREATE TABLE prices (item TEXT, eur REAL, day TEXT);
CREATE TABLE news (item TEXT PRIMARY KEY, eur REAL NOT NULL);
CREATE TABLE spans (a TEXT, b TEXT);
CREATE INDEX prices_day ON prices (day);
CREATE VIEW cheap AS SELECT item FROM prices WHERE eur < 2;
INSERT INTO prices
VALUES ('apple', 1.5, '2024-03-05'), ('pear', 2.5, '2024-03-20'), ('apple', 2.0, '2024-04-01');
INSERT INTO news VALUES ('apple', 3.0), ('plum', 1.0);
INSERT INTO spans VALUES ('2024-01-01 10:00:00', '2024-01-03 11:30:00');
