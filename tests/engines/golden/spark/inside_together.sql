WITH derived4 AS (SELECT 1 AS present, CAST(t0 AS STRING) AS v0_key, CAST(t1 AS BIGINT) AS v1 FROM (VALUES (1, 'EU', '1'), (1, CAST(X'4f27427269656e' AS STRING), NULL)) AS t(n, t0, t1)),
derived3_link0 AS (SELECT `t`.`who` AS person, UNIX_MICROS(`t`.`moment`) AS c0, CASE WHEN UNIX_MICROS(`t`.`moment`) IS NOT NULL THEN GREATEST(LEAST(UNIX_MICROS(`t`.`moment`), 253402300799999999), -62135596800000000) END AS c1 FROM `t` AS `t`),
derived3_rows AS (SELECT person, c0 AS x0, c1 AS x1 FROM derived3_link0 WHERE person IS NOT NULL),
derived3_groups AS (SELECT person, x0, MIN(x1) AS a0 FROM derived3_rows GROUP BY person, x0),
derived3 AS (SELECT person, a0 AS v0 FROM derived3_groups AS groups),
derived2_link0 AS (SELECT `t`.`who` AS person, `t`.`price` AS c0, CAST(RINT(CAST(`t`.`price` AS DOUBLE) * CAST('100.0' AS DOUBLE)) AS BIGINT) AS c1, CAST(`t`.`amount` AS BIGINT) AS c2 FROM `t` AS `t`),
derived2_rows AS (SELECT person, c0 AS x0, c1 AS x1, c2 AS x2 FROM derived2_link0 WHERE person IS NOT NULL),
derived2_groups AS (SELECT person, x0, MIN(x1) AS a0, MAX(x2) AS a1 FROM derived2_rows GROUP BY person, x0),
derived2 AS (SELECT person, a0 AS v0, a1 AS v1 FROM derived2_groups AS groups),
derived1_link0 AS (SELECT `t`.`who` AS person, CAST(RINT(CAST(`t`.`price` AS DOUBLE) * CAST('100.0' AS DOUBLE)) AS BIGINT) AS c0, `l`.`v1` AS c1 FROM `t` AS `t` LEFT JOIN derived4 AS `l` ON `t`.`place` = `l`.v0_key WHERE NOT EXISTS (SELECT 1 FROM derived3 AS `g` WHERE `t`.`who` = `g`.person AND (CASE WHEN UNIX_MICROS(`t`.`moment`) IS NOT NULL THEN GREATEST(LEAST(UNIX_MICROS(`t`.`moment`), 253402300799999999), -62135596800000000) END < `g`.`v0`))),
derived1_rows AS (SELECT person, c0 AS x0, c1 AS x1 FROM derived1_link0 WHERE person IS NOT NULL),
derived1 AS (SELECT person, x0 AS v0, x1 AS v1 FROM derived1_rows),
derived0 AS (SELECT person, t.v0 AS v0, t.v1 AS v1 FROM derived1 AS t UNION ALL SELECT person, t.v0 AS v0, t.v1 AS v1 FROM derived2 AS t),
link0 AS (SELECT `d`.person AS person, `d`.`v0` AS c0, `d`.`v1` AS c1 FROM derived0 AS `d`),
rows AS (SELECT person, c0 AS x0, c1 AS x1 FROM link0 WHERE person IS NOT NULL),
persons AS (SELECT (CAST(SUM(SHIFTRIGHT(x0, 42)) AS DECIMAL(38,0)) * 4398046511104 + CAST(SUM(SHIFTRIGHT(x0, 21) & 2097151) AS DECIMAL(38,0)) * 2097152 + CAST(SUM(x0 & 2097151) AS DECIMAL(38,0))) AS a0, (CAST(SUM(SHIFTRIGHT(x1, 42)) AS DECIMAL(38,0)) * 4398046511104 + CAST(SUM(SHIFTRIGHT(x1, 21) & 2097151) AS DECIMAL(38,0)) * 2097152 + CAST(SUM(x1 & 2097151) AS DECIMAL(38,0))) AS a1 FROM rows GROUP BY person)
SELECT 0 AS request, CAST(CASE WHEN negative THEN -1 - place ELSE place END AS DECIMAL(38,0)) AS a, CAST(COUNT(*) AS DECIMAL(38,0)) AS b, CAST(SUM(size) AS DECIMAL(38,0)) AS c, CAST(NULL AS DOUBLE) AS x FROM (SELECT size, negative, CASE WHEN size <= 1 THEN 0 ELSE 1 END AS place FROM (SELECT ABS(a0) AS size, a0 < 0 AS negative FROM persons WHERE a0 <> 0) AS sizes) AS places GROUP BY place, negative
UNION ALL SELECT 1 AS request, CAST(CASE WHEN negative THEN -1 - place ELSE place END AS DECIMAL(38,0)) AS a, CAST(COUNT(*) AS DECIMAL(38,0)) AS b, CAST(SUM(size) AS DECIMAL(38,0)) AS c, CAST(NULL AS DOUBLE) AS x FROM (SELECT size, negative, CASE WHEN size <= 1 THEN 0 ELSE 1 END AS place FROM (SELECT ABS(a1) AS size, a1 < 0 AS negative FROM persons WHERE a1 <> 0) AS sizes) AS places GROUP BY place, negative
