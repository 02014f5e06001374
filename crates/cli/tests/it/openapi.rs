//! Projects from OpenAPI descriptions.

use crate::support::{folder_with, ioco, run};

const DESCRIPTION: &str = r##"{
  "openapi": "3.0.0",
  "paths": {
    "/orders": {"post": {
      "operationId": "createOrder",
      "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}},
      "responses": {
        "201": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}},
        "422": {"description": "no"}
      }}},
    "/orders/{id}": {
      "parameters": [{"name": "id", "in": "path", "schema": {"type": "integer", "minimum": 1}}],
      "get": {"responses": {"200": {"description": "yes"}, "404": {"description": "no"}}}}
  },
  "components": {"schemas": {"Order": {"properties": {
    "amount": {"type": "integer", "minimum": 1, "maximum": 100},
    "kind": {"type": "string", "enum": ["a", "b"]}
  }}}}
}"##;

#[test]
fn an_openapi_description_becomes_a_project_that_checks() {
    let here = folder_with(&[("api.json", DESCRIPTION)]);
    let made = run(ioco()
        .current_dir(here.path())
        .args(["new", "shop", "--openapi", "api.json"]));
    assert_eq!(made.code, 0, "{}", made.all());
    let project = here.path().join("shop");
    let checked = run(ioco().current_dir(&project).arg("check"));
    assert_eq!(checked.code, 0, "{}", checked.all());
    assert!(
        checked.out.contains("2 stimuli, 4 responses"),
        "{}",
        checked.all()
    );
    // The mapping fits the model too: the only error is that no program listens.
    let tested = run(ioco()
        .current_dir(&project)
        .args(["test", "--http", "http://127.0.0.1:1"]));
    assert_eq!(tested.code, 3, "{}", tested.all());
}

const DESCRIPTION_IN_YAML: &str = r##"
openapi: 3.1.0
servers:
  - url: http://127.0.0.1:1
paths:
  /orders:
    post:
      operationId: createOrder
      requestBody:
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Order'}
      responses:
        201: {description: "yes"}
        4XX: {description: "no"}
        default: {description: "who knows"}
components:
  schemas:
    Order:
      allOf:
        - properties:
            amount: {type: integer, minimum: 1, maximum: 100}
        - properties:
            kind: {type: string, enum: [yes, "it's"]}
"##;

#[test]
fn an_openapi_description_may_be_yaml() {
    let here = folder_with(&[("api.yaml", DESCRIPTION_IN_YAML)]);
    let make = |name: &str| {
        let arguments = ["new", name, "--openapi", "api.yaml"];
        run(ioco().current_dir(here.path()).args(arguments))
    };
    let made = make("shop");
    assert_eq!(made.code, 0, "{}", made.all());
    let project = here.path().join("shop");
    let checked = run(ioco().current_dir(&project).arg("check"));
    assert_eq!(checked.code, 0, "{}", checked.all());
    let sizes = "1 stimulus, 3 responses";
    assert!(checked.out.contains(sizes), "{}", checked.all());
    let model = std::fs::read_to_string(project.join("model.aml")).expect("read");
    for words in ["amount in 1..100", "kind == \"yes\"", "createOrder_4xx"] {
        assert!(model.contains(words), "no {words} in {model}");
    }
    let tested = run(ioco().current_dir(&project).arg("test"));
    assert_eq!(tested.code, 3, "{}", tested.all());
    std::fs::write(here.path().join("api.yaml"), "paths: {a: [\n").expect("written");
    let broken = make("other");
    assert_eq!(broken.code, 2, "{}", broken.all());
    assert!(broken.err.contains("api.yaml"), "{}", broken.all());
}
