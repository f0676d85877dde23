WITH link0 AS (SELECT `t`.`who` AS person FROM `t` AS `t` LEFT JOIN `p` AS `x_702031` ON `t`.`place` = `x_702031`.`place`),
rows AS (SELECT person FROM link0 WHERE person IS NOT NULL),
persons AS (SELECT 1 AS present FROM rows GROUP BY person)
SELECT 0 AS request, CAST(COUNT(*) AS DECIMAL(38,0)) AS a, CAST(NULL AS DECIMAL(38,0)) AS b, CAST(NULL AS DECIMAL(38,0)) AS c, CAST(NULL AS DOUBLE) AS x FROM persons
