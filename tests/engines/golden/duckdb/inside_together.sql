WITH derived4 AS NOT MATERIALIZED (SELECT 1 AS present, CAST(t0 AS VARCHAR) AS v0_key, CAST(t1 AS BIGINT) AS v1 FROM (VALUES (1, 'EU', '1'), (1, 'O''Brien', NULL)) AS t(n, t0, t1)),
derived3_link0 AS NOT MATERIALIZED (SELECT "t"."who" AS person, CASE WHEN "t"."moment" = 'infinity' THEN 9223372036854775807 WHEN "t"."moment" = '-infinity' THEN -9223372036854775807 ELSE EPOCH_US("t"."moment") END AS c0, CASE WHEN "t"."moment" IS NOT NULL THEN GREATEST(LEAST("t"."moment", TIMESTAMP '9999-12-31 23:59:59.999999'), TIMESTAMP '0001-01-01') END AS c1 FROM "t" AS "t"),
derived3_rows AS NOT MATERIALIZED (SELECT person, c0 AS x0, c1 AS x1 FROM derived3_link0 WHERE person IS NOT NULL),
derived3_groups AS NOT MATERIALIZED (SELECT person, x0, MIN(x1) AS a0 FROM derived3_rows GROUP BY person, x0),
derived3 AS MATERIALIZED (SELECT person, a0 AS v0 FROM derived3_groups AS groups),
derived2_link0 AS NOT MATERIALIZED (SELECT "t"."who" AS person, CAST("t"."price" * CAST(100 AS DECIMAL(3,0)) AS BIGINT) AS c0, CAST("t"."amount" AS BIGINT) AS c1 FROM "t" AS "t"),
derived2_rows AS NOT MATERIALIZED (SELECT person, c0 AS x0, c1 AS x1 FROM derived2_link0 WHERE person IS NOT NULL),
derived2_groups AS NOT MATERIALIZED (SELECT person, x0, MAX(x1) AS a0 FROM derived2_rows GROUP BY person, x0),
derived2 AS MATERIALIZED (SELECT person, x0 AS v0, a0 AS v1 FROM derived2_groups AS groups),
derived1_link0 AS NOT MATERIALIZED (SELECT "t"."who" AS person, CAST("t"."price" * CAST(100 AS DECIMAL(3,0)) AS BIGINT) AS c0, "l"."v1" AS c1 FROM "t" AS "t" LEFT JOIN derived4 AS "l" ON "t"."place" COLLATE "binary" = "l".v0_key ANTI JOIN derived3 AS "g" ON "t"."who" = "g".person AND (CASE WHEN "t"."moment" IS NOT NULL THEN GREATEST(LEAST("t"."moment", TIMESTAMP '9999-12-31 23:59:59.999999'), TIMESTAMP '0001-01-01') END < "g"."v0")),
derived1_rows AS NOT MATERIALIZED (SELECT person, c0 AS x0, c1 AS x1 FROM derived1_link0 WHERE person IS NOT NULL),
derived1 AS NOT MATERIALIZED (SELECT person, x0 AS v0, x1 AS v1 FROM derived1_rows),
derived0 AS NOT MATERIALIZED (SELECT person, t.v0 AS v0, t.v1 AS v1 FROM derived1 AS t UNION ALL SELECT person, t.v0 AS v0, t.v1 AS v1 FROM derived2 AS t),
link0 AS NOT MATERIALIZED (SELECT "d".person AS person, "d"."v0" AS c0, "d"."v1" AS c1 FROM derived0 AS "d"),
rows AS NOT MATERIALIZED (SELECT person, c0 AS x0, c1 AS x1 FROM link0 WHERE person IS NOT NULL),
persons AS MATERIALIZED (SELECT SUM(x0) AS a0, SUM(x1) AS a1 FROM rows GROUP BY person)
SELECT 0 AS request, CAST(CASE WHEN negative THEN -1 - place ELSE place END AS HUGEINT) AS a, CAST(COUNT(*) AS HUGEINT) AS b, CAST(SUM(size) AS HUGEINT) AS c, CAST(NULL AS DOUBLE) AS x FROM (SELECT size, negative, CASE WHEN size <= 1 THEN 0 ELSE 1 END AS place FROM (SELECT ABS(a0) AS size, a0 < 0 AS negative FROM persons WHERE a0 <> 0) AS sizes) AS places GROUP BY place, negative
UNION ALL SELECT 1 AS request, CAST(CASE WHEN negative THEN -1 - place ELSE place END AS HUGEINT) AS a, CAST(COUNT(*) AS HUGEINT) AS b, CAST(SUM(size) AS HUGEINT) AS c, CAST(NULL AS DOUBLE) AS x FROM (SELECT size, negative, CASE WHEN size <= 1 THEN 0 ELSE 1 END AS place FROM (SELECT ABS(a1) AS size, a1 < 0 AS negative FROM persons WHERE a1 <> 0) AS sizes) AS places GROUP BY place, negative
